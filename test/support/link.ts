import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** The way to a server of this machine, as a link to another machine: it can be slow, and it can be cut. */
export class Link implements AsyncDisposable {
  /** Added to every piece of data, in both directions. */
  delayMs = 0;
  /** Nothing passes, and no side learns of it. */
  isCut = false;
  port = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(to: number) {
    this.#server = createServer({ allowHalfOpen: true }, (near) => {
      const far = connect({ port: to, host: '127.0.0.1', allowHalfOpen: true });
      this.#pass(near, far);
      this.#pass(far, near);
    });
  }

  async open(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  #pass(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    const later = (body: () => void): void => {
      if (this.delayMs === 0) body();
      else setTimeout(() => this.isCut || body(), this.delayMs);
    };
    from.on('data', (chunk: Buffer) => this.isCut || later(() => to.write(chunk)));
    from.on('end', () => this.isCut || later(() => to.end()));
    from.on('error', () => this.isCut || to.destroy());
    from.on('close', () => {
      this.#sockets.delete(from);
      if (!this.isCut) later(() => to.destroy());
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
