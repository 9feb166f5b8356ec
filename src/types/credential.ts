/** A secret as it goes to the gateway over stdin, nowhere else. */
export interface Secret {
  /** x-api-key for 'api-key', Authorization: Bearer for the others. */
  readonly kind: 'api-key' | 'oauth' | 'auth-token';
  readonly value: string;
  /** Milliseconds since the epoch, when known. */
  readonly expiresMs?: number;
}

/** Where the credential comes from; found on the host, refreshed on the host only. */
export interface CredentialSource {
  /** For people: 'ANTHROPIC_API_KEY', '~/.claude/.credentials.json', 'macOS Keychain', 'apiKeyHelper'. */
  readonly name: string;
  readonly kind: Secret['kind'];
  readonly expiresMs?: number;
  /** A value of the environment: nothing can refresh it. */
  readonly fixed?: boolean;
  current(): Promise<Secret>;
  /** After a 401 or near expiry. Throws RunClaudeError CREDENTIAL_EXPIRED with the way to log in. */
  refresh(): Promise<Secret>;
}
