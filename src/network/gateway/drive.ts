import { createInterface } from 'node:readline';
import { RunClaudeError } from '../../core/errors.ts';
import type { CredentialSource, Secret } from '../../core/types/agent/credential.ts';
import type { Tell } from '../../core/types/event.ts';
import type {
  FromGateway,
  GatewayConfig,
  HostRule,
  SessionCa,
  ToGateway,
  UsageReport,
} from '../../core/types/gateway.ts';
import type { Decoy } from '../../core/types/secret/decoy.ts';
import type { AgentPortStream } from './agent-port-stream.ts';
import type { NetworkLog } from './network-log.ts';
import { createRelay, type RelayTargets } from './relay.ts';

/** A running gateway program: a container's streams, or a process's. */
export interface GatewayStreams {
  readonly stdin: NodeJS.WritableStream;
  readonly stdout: NodeJS.ReadableStream;
}

export interface DriveOptions {
  readonly config: GatewayConfig;
  readonly credential: CredentialSource | undefined;
  /** Of brokered hosts, by the login's name. */
  readonly logins?: ReadonlyMap<string, CredentialSource>;
  readonly targets: RelayTargets;
  readonly log: NetworkLog;
  readonly tell: Tell;
  readonly onUsage: (report: UsageReport) => void;
}

/** The host's side of the messages with one gateway program. */
export interface DrivenGateway {
  /** Resolves with its CA when the gateway is ready. Rejects with GATEWAY_FAILED when it ends or fails before. */
  readonly ready: Promise<SessionCa | undefined>;
  setRules(rules: readonly HostRule[]): void;
  setDecoys(decoys: readonly Decoy[]): void;
  /** `login`: as in the messages. */
  setSecret(secret: Secret, login?: string): void;
  /** A stream to a port on the agent's loopback. */
  openPort(port: number): AgentPortStream;
  close(): void;
}

/** Sends the configuration, with the credential, as the first line. Then answers the program's requests. */
export function driveGateway({ stdin, stdout }: GatewayStreams, options: DriveOptions): DrivenGateway {
  const { config, credential, log, tell } = options;
  const send = (message: ToGateway): void => void stdin.write(`${JSON.stringify(message)}\n`);
  const relay = createRelay(options.targets, send);
  const ready = deferred<SessionCa | undefined>();

  const renew = async (login: string | undefined): Promise<void> => {
    const source = login === undefined ? credential : options.logins?.get(login);
    try {
      if (source === undefined) throw new RunClaudeError('CREDENTIAL_EXPIRED', 'there is no credential to renew');
      send({ type: 'secret', secret: await source.refresh(), login });
    } catch (error) {
      const hint = error instanceof RunClaudeError && error.hint !== undefined ? ` ${error.hint}` : '';
      const message = `${error instanceof RunClaudeError ? error.message : 'the credential could not be renewed'}.${hint}`;
      tell({ kind: 'message', level: 'error', text: message });
      send({ type: 'secret-failed', message, login });
    }
  };

  const take = (message: FromGateway): void => {
    if (message.type === 'ready') ready.resolve(message.ca);
    else if (message.type === 'failed') ready.reject(failed(message.message));
    else if (message.type === 'secret-needed') void renew(message.login);
    else if (message.type === 'usage') options.onUsage(message);
    else if (message.type === 'log') {
      const { type: _type, ...entry } = message;
      log.add(entry);
    } else relay.take(message);
  };

  // The end of its output reports the end of the program. A write that fails just before adds nothing.
  stdin.on('error', () => undefined);
  const lines = createInterface({ input: stdout, crlfDelay: Number.POSITIVE_INFINITY });
  lines.on('line', (line) => {
    try {
      take(JSON.parse(line) as FromGateway);
    } catch (error) {
      tell({ kind: 'trace', text: `gateway: ${error instanceof Error ? error.message : String(error)}` });
    }
  });
  lines.on('close', () => {
    relay.close();
    ready.reject(failed('it ended before it was ready'));
  });
  // The caller awaits it. Without this a later rejection would be unhandled.
  ready.promise.catch(() => undefined);
  send(config);
  return {
    ready: ready.promise,
    setRules: (rules) => send({ type: 'rules', rules }),
    setDecoys: (decoys) => send({ type: 'decoys', decoys }),
    setSecret: (secret, login) => send({ type: 'secret', secret, login }),
    openPort: (port) => relay.openPort(port),
    close: () => {
      stdin.end();
      relay.close();
    },
  };
}

function failed(why: string): RunClaudeError {
  return new RunClaudeError('GATEWAY_FAILED', `the gateway did not start: ${why}`, {
    hint: 'Without it there is no safe way out; --network none starts the session without any network.',
  });
}

interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  return { promise, resolve, reject };
}
