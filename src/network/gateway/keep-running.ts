import { RunClaudeError } from '../../core/errors.ts';
import type { CredentialSource, Secret } from '../../core/types/agent/credential.ts';
import type { Container } from '../../core/types/engine.ts';
import type { Tell } from '../../core/types/event.ts';
import type { GatewayConfig, GatewayUsage, HostRule, SessionCa, UsageReport } from '../../core/types/gateway.ts';
import type { Decoy } from '../../core/types/secret/decoy.ts';
import type { AgentPortStream } from './agent-port-stream.ts';
import { type DrivenGateway, driveGateway } from './drive.ts';
import type { NetworkLog } from './network-log.ts';
import type { RelayTargets } from './relay.ts';
import { CredentialRenewal } from './renew-credential.ts';

const MAX_RESTARTS = 5;
/** A gateway that ran this long starts the count of restarts anew. */
const SOUND_MS = 10 * 60_000;
const RESTART_PAUSE_MS = 100;
/** Long enough for a slow start on a busy machine. */
const READY_TIMEOUT_MS = 60_000;
const MAX_ERROR_CHUNKS = 64;
const TOOL_NAME = /^[\w.:-]{1,64}$/;

export interface KeepOptions {
  /** Starts one container (in tests: a process). */
  readonly start: () => Promise<Pick<Container, 'stdin' | 'stdout' | 'stderr' | 'wait' | 'remove'>>;
  readonly config: GatewayConfig;
  readonly targets: RelayTargets;
  readonly credential: CredentialSource | undefined;
  readonly secret: Secret | undefined;
  /** Of brokered hosts, by the login's name; their first tokens are in `config`. */
  readonly logins?: ReadonlyMap<string, CredentialSource> | undefined;
  readonly log: NetworkLog;
  readonly tell: Tell;
  /** Called with the totals whenever they change. */
  readonly keepUsage?: (usage: GatewayUsage) => void;
}

export interface KeptGateway {
  /** Rejects with GATEWAY_FAILED when the first start fails. Call stop() then too. */
  readonly ready: Promise<void>;
  /** Resolves with GATEWAY_LOST when restarts fail too often. */
  readonly lost: Promise<RunClaudeError>;
  /** Resolves with the reason when a limit is reached. */
  readonly exceeded: Promise<string>;
  usage(): GatewayUsage;
  /** The tool that the model asked for last. The name is a word of few characters. */
  lastTool(): string | undefined;
  setRules(rules: readonly HostRule[]): void;
  /** What the agent must not send: call it before the agent starts. */
  setDecoys(decoys: readonly Decoy[]): void;
  /** A stream to a port on the agent's loopback; undefined while no gateway runs. */
  openPort(port: number): AgentPortStream | undefined;
  stop(): Promise<void>;
}

/**
 * Keeps a gateway running. One that ends is started again with its rules, CA and totals, and gets the credential over
 * stdin as before. Renews the credential before it expires.
 */
export function keepRunning(options: KeepOptions): KeptGateway {
  return new GatewayKeeper(options);
}

/**
 * - `starting`: the first start; its failure rejects `ready`;
 * - `running`;
 * - `restarting`: it ended, and is started again;
 * - `lost`: too many restarts failed;
 * - `stopped`: nothing is started any more.
 */
type KeeperState = 'starting' | 'running' | 'restarting' | 'lost' | 'stopped';

class GatewayKeeper implements KeptGateway {
  readonly ready: Promise<void>;
  readonly lost: Promise<RunClaudeError>;
  readonly exceeded: Promise<string>;
  readonly #options: KeepOptions;
  readonly #renewal: CredentialRenewal;
  readonly #logins: ReadonlyMap<string, CredentialRenewal>;
  /** What the next start begins with. */
  #config: GatewayConfig;
  #usage: GatewayUsage;
  #tool: string | undefined;
  #state: KeeperState = 'starting';
  #container: Awaited<ReturnType<KeepOptions['start']>> | undefined;
  #driven: DrivenGateway | undefined;
  #restarts = 0;
  #restarting: Promise<void> = Promise.resolve();
  #reportLost: (error: RunClaudeError) => void = () => undefined;
  #reportExceeded: (why: string) => void = () => undefined;

  constructor(options: KeepOptions) {
    this.#options = options;
    this.#config = options.config;
    this.#usage = options.config.usage;
    this.lost = new Promise((resolve) => {
      this.#reportLost = resolve;
    });
    this.exceeded = new Promise((resolve) => {
      this.#reportExceeded = resolve;
    });
    this.#renewal = new CredentialRenewal(options.credential, {
      keep: (secret) => {
        this.#config = { ...this.#config, secret };
      },
      send: (secret) => this.#driven?.setSecret(secret),
      tell: options.tell,
    });
    this.#renewal.take(options.secret);
    this.#logins = new Map([...(options.logins ?? [])].map(([name, source]) => [name, this.#renewLogin(name, source)]));
    this.ready = this.#start();
    // The caller awaits it later. Without this an earlier failure elsewhere leaves the rejection unhandled.
    this.ready.catch(() => undefined);
  }

  #renewLogin(name: string, source: CredentialSource): CredentialRenewal {
    const renewal = new CredentialRenewal(source, {
      keep: (secret) => {
        if (secret !== undefined) this.#config = { ...this.#config, brokers: withToken(this.#config, name, secret) };
      },
      send: (secret) => this.#driven?.setSecret(secret, name),
      tell: this.#options.tell,
    });
    renewal.take(this.#config.brokers.find(({ login }) => login?.name === name)?.login?.secret);
    return renewal;
  }

  lastTool(): string | undefined {
    return this.#tool;
  }

  usage(): GatewayUsage {
    return this.#usage;
  }

  setRules(rules: readonly HostRule[]): void {
    this.#config = { ...this.#config, rules };
    this.#driven?.setRules(rules);
  }

  setDecoys(decoys: readonly Decoy[]): void {
    this.#config = { ...this.#config, decoys };
    this.#driven?.setDecoys(decoys);
  }

  openPort(port: number): AgentPortStream | undefined {
    return this.#state === 'running' ? this.#driven?.openPort(port) : undefined;
  }

  async stop(): Promise<void> {
    this.#state = 'stopped';
    for (const renewal of [this.#renewal, ...this.#logins.values()]) renewal.stop();
    this.#driven?.close();
    await this.ready.catch(() => undefined);
    await this.#restarting;
    await this.#container?.remove();
  }

  get #isStopped(): boolean {
    return this.#state === 'stopped';
  }

  /** `stopped` is the last state. */
  #enter(state: KeeperState): void {
    if (!this.#isStopped) this.#state = state;
  }

  async #start(): Promise<void> {
    const { start, targets, log, tell } = this.#options;
    const container = await start();
    this.#container = container;
    if (this.#isStopped) return;
    const { stdin, stdout } = container;
    if (stdin === undefined) throw new Error('a gateway has its stdin attached');
    const output = firstErrors(container.stderr);
    const credential = this.#renewal.source;
    const onUsage = (report: UsageReport): void => this.#takeUsage(report);
    const logins = new Map([...this.#logins].flatMap(([name, { source: one }]) => (one ? [[name, one] as const] : [])));
    const parts = { config: this.#config, credential, logins, targets, log, tell, onUsage };
    const driven = driveGateway({ stdin, stdout }, parts);
    this.#driven = driven;
    const end = container.wait().then(output, () => 'the engine lost it');
    const ca = await readyInTime(driven);
    this.#config = { ...this.#config, ca };
    this.#enter('running');
    const sinceMs = performance.now();
    void end.then((reason) => {
      if (performance.now() - sinceMs > SOUND_MS) this.#restarts = 0;
      this.#restarting = this.#restart(reason);
    });
  }

  async #restart(reason: string): Promise<void> {
    const { tell } = this.#options;
    this.#enter('restarting');
    let cause: unknown = reason;
    while (!this.#isStopped && this.#restarts < MAX_RESTARTS) {
      tell({ kind: 'trace', text: `gateway ended: ${String(cause).slice(0, 2000)}` });
      this.#restarts += 1;
      try {
        await this.#container?.remove();
        await new Promise((resolve) => setTimeout(resolve, RESTART_PAUSE_MS * this.#restarts));
        if (this.#isStopped) return;
        await this.#start();
        if (!this.#isStopped)
          tell({ kind: 'message', level: 'warning', text: 'the gateway ended and was started again' });
        return;
      } catch (error) {
        cause = error;
      }
    }
    if (this.#isStopped) return;
    this.#enter('lost');
    const hint = 'The session is stopped. Its work is kept.';
    this.#reportLost(
      new RunClaudeError('GATEWAY_LOST', 'the gateway ended and could not be started again', { hint, cause }),
    );
  }

  #takeUsage({ usage, atMost, exceeded, tool }: UsageReport): void {
    this.#usage = usage;
    if (typeof tool === 'string' && TOOL_NAME.test(tool)) this.#tool = tool;
    this.#config = { ...this.#config, usage: atMost };
    if (exceeded !== undefined) this.#reportExceeded(exceeded);
    this.#options.keepUsage?.(usage);
  }
}

function withToken({ brokers }: GatewayConfig, name: string, secret: Secret): GatewayConfig['brokers'] {
  return brokers.map((one) => (one.login?.name === name ? { ...one, login: { name, secret } } : one));
}

/** Collects the first errors of a gateway; the result returns them. */
function firstErrors(stderr: NodeJS.ReadableStream): () => string {
  const errors: Buffer[] = [];
  stderr.on('data', (chunk: Buffer) => {
    if (errors.length < MAX_ERROR_CHUNKS) errors.push(Buffer.from(chunk));
  });
  return () => Buffer.concat(errors).toString('utf8');
}

async function readyInTime(driven: DrivenGateway): Promise<SessionCa | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, failed) => {
    timer = setTimeout(
      () =>
        failed(
          new RunClaudeError('GATEWAY_FAILED', `the gateway did not become ready within ${READY_TIMEOUT_MS / 1000} s`),
        ),
      READY_TIMEOUT_MS,
    );
  });
  try {
    return await Promise.race([driven.ready, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
