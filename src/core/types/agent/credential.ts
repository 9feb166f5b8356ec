/** A secret in the form in which the gateway gets it over stdin; it is sent nowhere else. */
export interface Secret {
  /** The API's own header for 'api-key', a signature with 'aws-keys' (JSON: AwsKeys), Authorization: Bearer for the others. */
  readonly kind: 'api-key' | 'oauth' | 'auth-token' | 'aws-keys';
  readonly value: string;
  /** Milliseconds since the epoch, when known. */
  readonly expiresMs?: number;
}

/** The form of the provider's API: which paths are inference, how requests are signed, where usage is in an answer. */
export type ProviderApi =
  | { readonly kind: 'anthropic' }
  | { readonly kind: 'openai' }
  /** Behind a ChatGPT login. */
  | { readonly kind: 'chatgpt'; readonly account: string }
  | { readonly kind: 'gemini' }
  /** Behind a Google login. */
  | { readonly kind: 'code-assist' }
  /** GitHub Copilot. */
  | { readonly kind: 'copilot' }
  | { readonly kind: 'bedrock'; readonly region: string }
  | { readonly kind: 'vertex'; readonly region: string; readonly project: string };

/** Keys of an AWS account, for signing. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Where the credential comes from; found on the host, refreshed on the host only. */
export interface CredentialSource {
  /** For people: 'ANTHROPIC_API_KEY', '~/.claude/.credentials.json', 'macOS Keychain', 'apiKeyHelper'. */
  readonly name: string;
  readonly kind: Secret['kind'];
  /** The API that it is good for, where that is not Anthropic's own (undefined: that one, or ANTHROPIC_BASE_URL). */
  readonly cloud?: { readonly url: string; readonly api: ProviderApi };
  readonly expiresMs?: number;
  /** A value of the environment: nothing can refresh it. */
  readonly fixed?: boolean;
  current(): Promise<Secret>;
  /** After a 401 or near expiry. Throws RunClaudeError CREDENTIAL_EXPIRED with the way to log in. */
  refresh(): Promise<Secret>;
}
