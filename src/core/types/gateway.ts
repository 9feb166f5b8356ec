import type { ProviderApi, Secret } from './agent/credential.ts';
import type { Decoy } from './secret/decoy.ts';

// What the host's side and the gateway program say to each other: JSON, one message a line, over the gateway's stdio.

/** One host that may be reached. `host`: a name in ASCII, '*.' before it for everything below it, or an IP address. */
export interface HostRule {
  readonly host: string;
  /** Undefined: 443 and 80. */
  readonly port?: number;
  /** Where the rule is from: 'preset npm', '--allow-host', 'network allow', for people. */
  readonly from: string;
}

/** Where the gateway finds a way out: straight, or through the one address on the host's side that the relay has. */
export interface Upstream {
  readonly url: string;
  /** Reached through the host: its address is on the host's loopback or private network. */
  readonly relay: boolean;
}

export interface Provider extends Upstream {
  /** Undefined: the Anthropic API. */
  readonly api?: ProviderApi;
}

/** The host's own HTTPS proxy. */
export interface UpstreamProxy extends Upstream {
  /** NO_PROXY: 'name' (and below it), 'name@port', '*'. */
  readonly except?: readonly string[];
}

/** US dollars for a million tokens. */
export interface Price {
  /** Start of the model's name. */
  readonly model: string;
  /** Only this model and its dated, preview and latest versions: a longer name is another model. */
  readonly exact?: boolean;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Cache entries that live an hour. */
  readonly cacheWriteHour: number;
  /** Input is charged twice and output one and a half times where the prompt is longer than 200,000 tokens. */
  readonly longDearer?: boolean;
}

/** Requests of one method to a path. `*` stands for a part of one segment, `**` at the end for all below. */
export interface RequestRule {
  readonly method: string;
  readonly path: string;
}

/** One host whose requests the gateway reads: TLS ends there. */
export interface BrokeredHost {
  readonly host: string;
  /** Put into each request that passes, its value known to the gateway only. */
  readonly secret?: { readonly header: string; readonly value: string };
  /** A login by token, which the host renews: put into the Authorization header of each request that passes. */
  readonly login?: { readonly name: string; readonly secret: Secret };
  /** What passes: methods for every path, or methods with their paths. */
  readonly passes: { readonly methods: readonly string[] } | { readonly requests: readonly RequestRule[] };
  /** What passes with the requests in addition to the lists of the gateway (images/gateway/passed-names.mjs). */
  readonly also?: PassedAlso;
  /** The requests are messages of MCP. `tools`: what may be called; undefined: all. */
  readonly mcp?: { readonly tools?: readonly string[] | undefined };
  /** The requests go to this socket of a companion instead of the host. */
  readonly socket?: string;
}

/** Names that a rule adds to what passes with its requests. */
export interface PassedAlso {
  /** Of a query or of a form in the body. */
  readonly parameters?: readonly string[];
  readonly headers?: readonly string[];
  /** Types of bodies that pass unread. */
  readonly contentTypes?: readonly string[];
}

/** A companion's way out: its own proxy with its own rules. */
export interface CompanionOut {
  readonly name: string;
  /** Where the gateway listens for it. */
  readonly socket: string;
  readonly rules: readonly HostRule[];
}

/** The first line on the gateway's stdin. */
export interface GatewayConfig {
  readonly type: 'start';
  /** Where the sockets are made. */
  readonly directory: string;
  readonly rules: readonly HostRule[];
  readonly allowAddresses: readonly string[];
  /** Ranges that are not public, and what each is for. */
  readonly specialAddresses: readonly (readonly [range: string, use: string])[];
  /** Names whose refusal is logged and not shown: what the client asks at start-up. */
  readonly quiet: readonly string[];
  /** The provider's own hosts: never by CONNECT, whatever the rules say. */
  readonly providerHosts: readonly string[];
  readonly provider: Provider | undefined;
  readonly secret: Secret | undefined;
  /** Why there is no secret, for the agent's eyes. */
  readonly noSecret: string;
  readonly proxy: UpstreamProxy | undefined;
  /** PEM text of certificates trusted besides the well-known ones. */
  readonly extraCa: string;
  /** Names with fixed addresses, as in a hosts file: 'address', or 'address@port'. */
  readonly hosts: Readonly<Record<string, readonly string[]>>;
  readonly prices: readonly Price[];
  readonly maxCostUsd: number | undefined;
  readonly maxRequests: number | undefined;
  /** Totals so far, when a gateway is started again. */
  readonly usage: GatewayUsage;
  readonly brokers: readonly BrokeredHost[];
  readonly companions: readonly CompanionOut[];
  /** Ports of the user's own machine, each reached through a socket `local-PORT.sock`. */
  readonly localPorts: readonly number[];
  /** For an agent in another pod. Undefined: sockets only. */
  readonly podDoor?: PodDoor | undefined;
  /** The session's CA, when a gateway is started again. */
  readonly ca: SessionCa | undefined;
  /** Whether the gateway hands its CA over for a later start: not where a machine keeps what it prints. */
  readonly tellsCa: boolean;
  /** The well-known CAs inside, to which the session's CA is added. */
  readonly caBundle: string;
  readonly limits: GatewayLimits;
  /** What the agent must not send to another host than its provider. */
  readonly decoys: readonly Decoy[];
}

/** A port of the gateway for the agent's pod, whose connections name a socket. */
export interface PodDoor {
  readonly port: number;
  /** Before each name: no other pod knows it. Letters and digits. */
  readonly word: string;
}

export interface GatewayLimits {
  readonly connections: number;
  readonly bytesPerConnection: number;
  readonly headMs: number;
  readonly connectMs: number;
  readonly idleMs: number;
  /** How long an answer is read whose client has left. Undefined: 15 minutes. */
  readonly readOnMs?: number;
}

export interface SessionCa {
  readonly key: string;
  readonly certificate: string;
}

export interface GatewayUsage {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

export type ToGateway =
  | GatewayConfig
  /** `login`: the name of the login that it is for; undefined: the provider's, also in the two below. */
  | { readonly type: 'secret'; readonly secret: Secret; readonly login?: string | undefined }
  | { readonly type: 'secret-failed'; readonly message: string; readonly login?: string | undefined }
  | { readonly type: 'rules'; readonly rules: readonly HostRule[] }
  | { readonly type: 'decoys'; readonly decoys: readonly Decoy[] }
  /** A stream of the host to a port on the agent's loopback. Its number is negative. */
  | { readonly type: 'port-open'; readonly id: number; readonly port: number }
  | RelayMessage;

export type FromGateway =
  | { readonly type: 'ready'; readonly ca?: SessionCa }
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'secret-needed'; readonly login?: string }
  | ({ readonly type: 'log' } & NetworkEntry)
  | UsageReport
  | RelayMessage;

export interface UsageReport {
  readonly type: 'usage';
  /** What requests have cost that ended, and what open answers have delivered. */
  readonly usage: GatewayUsage;
  /** The totals if each open answer ended now without its usage: a gateway that is started again begins with them. */
  readonly atMost: GatewayUsage;
  /** The limit that is reached. */
  readonly exceeded?: string;
  /** The name of the tool that the model asked for last. */
  readonly tool?: string;
}

/** What the gateway reaches through the host: the provider, the host's own proxy, or a port of the user's machine. */
export type RelayTarget = 'provider' | 'proxy' | `local ${number}`;

export type RelayMessage =
  | { readonly type: 'relay-open'; readonly id: number; readonly to: RelayTarget }
  | { readonly type: 'relay-data'; readonly id: number; readonly data: string }
  | { readonly type: 'relay-ack'; readonly id: number; readonly bytes: number }
  | { readonly type: 'relay-end'; readonly id: number }
  /** `code`: of the operating system, such as ECONNRESET. */
  | { readonly type: 'relay-close'; readonly id: number; readonly why?: string; readonly code?: string };

/** Which value of a masked file a request had. */
export type DecoyPlace = Omit<Decoy, 'value'>;

/** One line of the network log. Names are cleaned: what is not a host name is escaped. */
export interface NetworkEntry {
  /** ISO 8601. */
  readonly at: string;
  /** 'local': a service of the user's machine. 'preview': the user's browser and a port of the agent. */
  readonly kind: 'connect' | 'http' | 'provider' | 'broker' | 'local' | 'preview';
  /** The companion that asked; undefined: the agent. */
  readonly companion?: string;
  /** The tool that a message to an MCP server calls. */
  readonly tool?: string;
  readonly verdict: 'passed' | 'refused' | 'failed';
  readonly host: string;
  readonly port: number;
  readonly method: string;
  /** Why it was refused or failed. */
  readonly why?: string;
  /** Expected noise of the client: logged, not shown. */
  readonly quiet?: boolean;
  /** The host itself is not in the rules: an --allow-host would let it pass. */
  readonly unlisted?: boolean;
  readonly status?: number;
  /** What the request had of masked files: read by the agent where it passed to the provider, refused elsewhere. */
  readonly decoys?: readonly DecoyPlace[];
  readonly up: number;
  readonly down: number;
  readonly ms: number;
}
