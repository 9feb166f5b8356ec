import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import type { CredentialSource, Secret } from '../../src/core/types/agent/credential.ts';
import type { SessionEvent } from '../../src/core/types/event.ts';
import type { GatewayConfig, NetworkEntry } from '../../src/core/types/gateway.ts';
import type { Policy } from '../../src/core/types/policy.ts';
import { gatewayConfig } from '../../src/network/gateway/config.ts';
import { type KeptGateway, keepRunning } from '../../src/network/gateway/keep-running.ts';
import { type NetworkLog, openNetworkLog, readNetworkLog } from '../../src/network/gateway/network-log.ts';
import type { RelayTargets } from '../../src/network/gateway/relay.ts';

const PROGRAM = path.resolve(import.meta.dirname, '../../images/gateway/main.mjs');

/** What a gateway asks of a policy, with nothing in it. */
export const BARE_POLICY = {
  network: 'gateway',
  credentials: 'broker',
  allowHosts: [],
  allowAddresses: [],
  networkPresets: [],
  brokers: [],
} as unknown as Policy;

/** A login that is never another. */
export function fixedCredential(value: string): CredentialSource {
  const current = async (): Promise<Secret> => ({ kind: 'oauth', value });
  return { name: 'test', kind: 'oauth', current, refresh: current };
}

export interface GatewayProcessOptions {
  readonly config: Partial<GatewayConfig>;
  readonly targets?: RelayTargets;
  readonly credential?: CredentialSource;
  /** Of brokered hosts, by the login's name. */
  readonly logins?: ReadonlyMap<string, CredentialSource>;
  /** How many files it may have open. */
  readonly descriptors?: number;
  /** Words in front of the program's own: where it runs. */
  readonly within?: readonly string[];
}

/** The real gateway program as a process of this machine, on unix sockets, driven by the host's real side. */
export class GatewayProcess implements AsyncDisposable {
  readonly dir: string;
  readonly events: SessionEvent[];
  readonly log: NetworkLog;
  readonly kept: KeptGateway;
  readonly pids: number[];

  private constructor(dir: string, events: SessionEvent[], log: NetworkLog, kept: KeptGateway, pids: number[]) {
    this.dir = dir;
    this.events = events;
    this.log = log;
    this.kept = kept;
    this.pids = pids;
  }

  static async start(options: GatewayProcessOptions): Promise<GatewayProcess> {
    const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-gateway-'));
    const events: SessionEvent[] = [];
    const pids: number[] = [];
    const log = openNetworkLog(path.join(dir, 'network.jsonl'), (event) => events.push(event));
    const upstreams = {
      provider: { url: 'http://127.0.0.1:1', relay: true },
      proxy: undefined,
      targets: {},
      extraCa: '',
    };
    const base = gatewayConfig(BARE_POLICY, upstreams, await options.credential?.current(), []);
    const limits = { ...base.limits, headMs: 15_000, connectMs: 20_000 };
    const kept = keepRunning({
      config: { ...base, directory: dir, limits, ...options.config },
      targets: options.targets ?? {},
      credential: options.credential,
      secret: await options.credential?.current(),
      logins: options.logins,
      log,
      tell: (event) => events.push(event),
      start: async () => {
        const limit = `ulimit -n ${options.descriptors ?? 4096}; exec "$0" "$@"`;
        const words = ['sh', '-c', limit, process.execPath, '--max-old-space-size=320', PROGRAM];
        const [first = 'sh', ...rest] = [...(options.within ?? []), ...words];
        const child = spawn(first, rest, {
          stdio: 'pipe',
          env: { PATH: process.env['PATH'] },
        });
        if (child.pid !== undefined) pids.push(child.pid);
        const exit = new Promise<number>((done) => child.once('exit', (code) => done(code ?? 128)));
        const remove = async (): Promise<void> => {
          child.kill('SIGKILL');
          await exit;
        };
        return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, wait: () => exit, remove };
      },
    });
    await kept.ready;
    return new GatewayProcess(dir, events, log, kept, pids);
  }

  /** Sends bytes to the proxy and gives what comes back until it closes, or until a match of `until`; `then` goes out
   * once a tunnel is open. */
  say(bytes: string | Buffer, then?: Buffer | string, until?: RegExp): Promise<string> {
    return new Promise((done) => {
      const socket = connect(path.join(this.dir, 'proxy.sock'));
      let text = '';
      let sent = then === undefined;
      const timer = setTimeout(() => socket.destroy(), 60_000);
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        if (!sent && text.includes(' 200 ') && then !== undefined) socket.write(then);
        sent ||= text.includes(' 200 ');
        if (until?.test(text)) socket.destroy();
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clearTimeout(timer);
        done(text);
      });
      socket.write(bytes);
    });
  }

  /** Through the agent's proxy: CONNECT, TLS to the name, these bytes; what comes back until the end. `ca`: the one
   * certificate that is trusted, by default the session's. */
  sayInside(host: string, text: string, ca?: string): Promise<string> {
    return new Promise((done) => {
      const socket = connect(path.join(this.dir, 'proxy.sock'));
      let answer = '';
      const timer = setTimeout(() => socket.destroy(), 60_000);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clearTimeout(timer);
        done(answer);
      });
      socket.once('data', (head) => {
        if (!head.toString().includes(' 200 ')) {
          answer = head.toString();
          socket.end();
          return;
        }
        // The last one is the session's own; the company's made here bears the same name, which no real one does.
        const bundle = ca ?? readFileSync(path.join(this.dir, 'ca.pem'), 'utf8');
        const trusted = bundle.slice(bundle.lastIndexOf('-----BEGIN'));
        const secure = tlsConnect({ socket, servername: host, ca: trusted }, () => secure.write(text));
        secure.on('data', (chunk) => {
          answer += chunk.toString('latin1');
          // Kept alive by the gateway, one answer is all that is asked for.
          if (/\r\n\r\n[\s\S]/.test(answer)) setTimeout(() => secure.destroy(), 100);
        });
        secure.on('end', () => socket.destroy());
        secure.on('close', () => socket.destroy());
        secure.on('error', (error) => {
          answer += error.message;
          socket.destroy();
        });
      });
      socket.write(`CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}:443\r\n\r\n`);
    });
  }

  entries(): readonly NetworkEntry[] {
    return readNetworkLog(this.log.file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kept.stop();
    this.log.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
