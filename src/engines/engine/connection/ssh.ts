import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { spawn } from '../../../core/host/programs/start-program.ts';
import { type MakeDir, type SharedLogin, shareLogin } from './ssh-login.ts';

/** Each needs a program here and one on the other machine, and servers allow ten at a time by default. */
const MAX_IDLE = 3;

/** Of what ssh and the login of the other machine print. */
const MAX_COMPLAINT_CHARACTERS = 4000;

/** Whether something keeps this process, as Node's sockets have it. */
interface Held {
  ref(): void;
  unref(): void;
}

function holdOf(child: ChildProcessWithoutNullStreams): Held {
  const all: readonly Held[] = [child, ...([child.stdin, child.stdout, child.stderr] as unknown as readonly Socket[])];
  return {
    ref: () => all.forEach((one) => void one.ref()),
    unref: () => all.forEach((one) => void one.unref()),
  };
}

/**
 * An HTTP agent whose connections are `ssh HOST docker system dial-stdio`: the user's ssh checks the host key
 * and finds the keys. Starting both programs takes longer than most requests, so a connection serves many of them. The ssh that is built into docker-modem does neither.
 */
export class SshAgent extends Agent {
  readonly #host: readonly string[];
  readonly #makeDir: MakeDir;
  #login: Promise<SharedLogin> | undefined;
  /** Resolves when the first connection, which logs in for all, has an answer or has ended. */
  #answered: Promise<void> | undefined;
  constructor(destination: string, port: string | undefined, makeDir: MakeDir) {
    super({ keepAlive: true, maxFreeSockets: MAX_IDLE });
    this.#makeDir = makeDir;
    this.#host = [...(port === undefined ? [] : ['-p', port]), '--', destination];
  }

  /** Called by Node's HTTP client for every request without an idle connection. */
  override createConnection(): Duplex {
    let ssh: ChildProcessWithoutNullStreams | undefined;
    const connection: Duplex = new Duplex({
      // The end of ssh ends both ways.
      allowHalfOpen: false,
      construct: (done) => {
        this.#connect(connection).then((child) => {
          ssh = child;
          done();
        }, done);
      },
      read: () => ssh?.stdout.resume(),
      // The end of ssh brings its error message. A write that fails earlier has none, and is not awaited.
      write: (chunk: Buffer, _, done) => ssh?.stdin.write(chunk, () => done()),
      final: (done) => ssh?.stdin.end(() => done()),
      destroy: (error, done) => {
        ssh?.kill();
        done(error);
      },
    });
    return connection;
  }

  /** Called when a connection becomes idle: it must not keep this process. Its next request calls ref(). */
  override keepSocketAlive(connection: Duplex): boolean {
    (connection as Partial<Held>).unref?.();
    return true;
  }

  /** Ends every connection, and their shared login. */
  async close(): Promise<void> {
    this.destroy();
    await (await this.#login)?.end();
  }

  /** Starts ssh for a connection, unless the connection was destroyed in the meantime. */
  async #connect(connection: Duplex): Promise<ChildProcessWithoutNullStreams | undefined> {
    this.#login ??= shareLogin(this.#host, this.#makeDir);
    const { options } = await this.#login;
    // Two connections that log in at the same time would not share a login, so the others wait for the first.
    if (this.#answered !== undefined) await this.#answered;
    if (connection.destroyed) return undefined;
    const argv = ['-T', '-o', 'BatchMode=yes', ...options, ...this.#host, 'docker', 'system', 'dial-stdio'];
    const child = spawn('ssh', argv, { cwd: '/', stdio: ['pipe', 'pipe', 'pipe'] });
    const { stdin, stdout } = child;
    Object.assign(connection, holdOf(child));
    this.#answered ??= new Promise((resolve) => {
      stdout.once('data', () => resolve());
      stdout.once('close', () => resolve());
    });
    let complaint = '';
    child.stderr.on('data', (chunk: Buffer) => {
      complaint = (complaint + chunk.toString('utf8')).slice(-MAX_COMPLAINT_CHARACTERS);
    });
    stdin.on('error', () => undefined);
    stdout.on('data', (chunk: Buffer) => {
      if (!connection.push(chunk)) stdout.pause();
    });
    child.on('error', (error) => connection.destroy(error));
    child.on('close', (status) => {
      if (connection.destroyed) return;
      if (status === 0) {
        connection.push(null);
        return;
      }
      const reason = complaint.trim();
      connection.destroy(Object.assign(new Error(reason || `ssh ended with status ${status}`), { code: 'ESSH' }));
    });
    return child;
  }
}
