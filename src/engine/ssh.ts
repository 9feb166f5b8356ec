import { spawn } from 'node:child_process';
import { Agent } from 'node:http';
import { Duplex } from 'node:stream';

/**
 * An HTTP agent whose connections are `ssh HOST docker system dial-stdio`: the person's own ssh checks the host key
 * and finds the keys, which docker-modem's built-in ssh does not.
 */
export class SshAgent extends Agent {
  readonly #destination: string;
  readonly #port: string | undefined;
  constructor(destination: string, port: string | undefined) {
    super({ keepAlive: false });
    this.#destination = destination;
    this.#port = port;
  }

  /** Called by Node's HTTP client for every request. */
  override createConnection(): Duplex {
    const port = this.#port === undefined ? [] : ['-p', this.#port];
    const argv = ['-T', '-o', 'BatchMode=yes', ...port, '--', this.#destination, 'docker', 'system', 'dial-stdio'];
    const child = spawn('ssh', argv, { stdio: ['pipe', 'pipe', 'pipe'] });
    const { stdin, stdout } = child;
    const complaint: Buffer[] = [];
    child.stderr.on('data', (chunk: Buffer) => complaint.push(chunk));
    const connection = new Duplex({
      read: () => stdout.resume(),
      // What ssh said comes with its end; a write that fails before that says less, and is not waited for.
      write: (chunk: Buffer, _, done) => stdin.write(chunk, () => done()),
      final: (done) => stdin.end(() => done()),
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
      const said = Buffer.concat(complaint).toString('utf8').trim();
      connection.destroy(Object.assign(new Error(said || `ssh ended with status ${status}`), { code: 'ESSH' }));
    });
    connection.on('close', () => child.kill());
    return connection;
  }
}
