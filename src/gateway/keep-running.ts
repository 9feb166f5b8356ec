import { RunClaudeError } from '../errors.ts';
import type { CredentialSource, Secret } from '../types/credential.ts';
import type { Container } from '../types/engine.ts';
import type { Tell } from '../types/event.ts';
import type { GatewayConfig, GatewayUsage, HostRule, SessionCa } from '../types/gateway.ts';
import { type DrivenGateway, driveGateway } from './drive.ts';
import type { NetworkLog } from './network-log.ts';
import type { RelayTargets } from './relay.ts';

const RESTARTS = 5;
/** One that ran this long owes nothing to the restarts before it. */
const SOUND_MS = 10 * 60_000;
const RESTART_PAUSE_MS = 100;
/** A container that starts slowly on a busy machine is no failure; one that says nothing for this long is. */
const READY_MS = 60_000;
const RENEW_BEFORE_MS = 5 * 60_000;
/** Where this machine's clock is ahead, every credential has ended already. */
const RENEW_PAUSE_MS = 30_000;
/** setTimeout counts in 32 bits. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface KeepOptions {
  /** Starts one container, or a process in tests. */
  readonly start: () => Promise<Pick<Container, 'stdin' | 'stdout' | 'stderr' | 'wait' | 'remove'>>;
  readonly config: GatewayConfig;
  readonly targets: RelayTargets;
  readonly credential: CredentialSource | undefined;
  readonly secret: Secret | undefined;
  readonly log: NetworkLog;
  readonly tell: Tell;
  /** Called with the totals whenever they change. */
  readonly keepUsage?: (usage: GatewayUsage) => void;
}

export interface KeptGateway {
  /** Rejects with GATEWAY_FAILED when the first start fails; stop() is still to be called then. */
  readonly ready: Promise<void>;
  readonly lost: Promise<RunClaudeError>;
  readonly exceeded: Promise<string>;
  usage(): GatewayUsage;
  setRules(rules: readonly HostRule[]): void;
  stop(): Promise<void>;
}

/**
 * Keeps a gateway running: one that ends is started again with what it knew (rules, CA, totals; the credential over
 * stdin as before), and lost is said once when that fails too often. Renews the credential before it ends.
 */
export function keepRunning(options: KeepOptions): KeptGateway {
  const { credential, log, tell, targets } = options;
  let config = options.config;
  let stopping = false;
  let container: Awaited<ReturnType<KeepOptions['start']>> | undefined;
  let driven: DrivenGateway | undefined;
  let restarts = 0;
  let restarting: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let sayLost: (error: RunClaudeError) => void = () => undefined;
  let sayExceeded: (why: string) => void = () => undefined;
  const lost = new Promise<RunClaudeError>((done) => {
    sayLost = done;
  });
  const exceeded = new Promise<string>((done) => {
    sayExceeded = done;
  });

  const onUsage = (usage: GatewayUsage, reached: string | undefined): void => {
    config = { ...config, usage };
    if (reached !== undefined) sayExceeded(reached);
    options.keepUsage?.(usage);
  };

  const takeSecret = (secret: Secret | undefined): void => {
    config = { ...config, secret };
    clearTimeout(timer);
    if (secret?.expiresMs === undefined || credential === undefined) return;
    const wait = Math.max(RENEW_PAUSE_MS, secret.expiresMs - Date.now() - RENEW_BEFORE_MS);
    timer = setTimeout(() => void renew(), Math.min(wait, MAX_TIMER_MS));
    timer.unref();
  };

  const source: CredentialSource | undefined =
    credential === undefined
      ? undefined
      : {
          ...credential,
          current: () => credential.current(),
          refresh: async () => {
            const secret = await credential.refresh();
            takeSecret(secret);
            return secret;
          },
        };

  async function renew(): Promise<void> {
    try {
      const secret = await source?.refresh();
      if (secret !== undefined) driven?.setSecret(secret);
    } catch (error) {
      // Still good for minutes: the 401 that may follow tries again and tells the person.
      tell({ kind: 'trace', text: `credential: ${error instanceof Error ? error.message : String(error)}` });
    }
  }

  async function run(): Promise<void> {
    const started = await options.start();
    container = started;
    if (stopping) return;
    const errors: Buffer[] = [];
    started.stderr.on('data', (chunk: Buffer) => {
      if (errors.length < 64) errors.push(Buffer.from(chunk));
    });
    if (started.stdin === undefined) throw new Error('a gateway has its stdin attached');
    driven = driveGateway(
      { stdin: started.stdin, stdout: started.stdout },
      { config, credential: source, targets, log, tell, onUsage },
    );
    const gone = started.wait().then(
      () => Buffer.concat(errors).toString('utf8'),
      () => 'the engine lost it',
    );
    const ca = await readyInTime(driven);
    config = { ...config, ca };
    const since = performance.now();
    void gone.then((said) => {
      if (performance.now() - since > SOUND_MS) restarts = 0;
      restarting = ended(said);
    });
  }

  async function ended(said: string): Promise<void> {
    let cause: unknown = said;
    while (!stopping && restarts < RESTARTS) {
      tell({ kind: 'trace', text: `gateway ended: ${String(cause).slice(0, 2000)}` });
      restarts += 1;
      try {
        await container?.remove();
        await new Promise((done) => setTimeout(done, RESTART_PAUSE_MS * restarts));
        if (stopping) return;
        await run();
        if (!stopping) tell({ kind: 'message', level: 'warning', text: 'the gateway ended and was started again' });
        return;
      } catch (error) {
        cause = error;
      }
    }
    if (stopping) return;
    const hint = 'the session is stopped, its work is kept';
    const text = 'the gateway is gone and could not be started again';
    sayLost(new RunClaudeError('GATEWAY_LOST', text, { hint, cause }));
  }

  async function stop(): Promise<void> {
    stopping = true;
    clearTimeout(timer);
    driven?.close();
    await ready.catch(() => undefined);
    await restarting;
    await container?.remove();
  }

  takeSecret(options.secret);
  const ready = run();
  // Whoever started it waits for it; without this an earlier failure of something else leaves it unhandled.
  ready.catch(() => undefined);
  return {
    ready,
    lost,
    exceeded,
    usage: () => config.usage,
    setRules: (rules) => {
      config = { ...config, rules };
      driven?.setRules(rules);
    },
    stop,
  };
}

async function readyInTime(driven: DrivenGateway): Promise<SessionCa | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, failed) => {
    timer = setTimeout(
      () => failed(new RunClaudeError('GATEWAY_FAILED', `the gateway gave no sign for ${READY_MS / 1000} s`)),
      READY_MS,
    );
  });
  try {
    return await Promise.race([driven.ready, late]);
  } finally {
    clearTimeout(timer);
  }
}
