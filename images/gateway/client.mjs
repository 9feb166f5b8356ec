// The agent's side of one request: what is written to it, and whether it is still connected.
import { once } from 'node:events';

export class Client {
  /** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
  constructor(request, response) {
    this.response = response;
    this.left = new AbortController();
    const leave = () => this.left.abort();
    const { socket } = request;
    // An answer that is queued behind others gets no event when its connection ends.
    socket.setMaxListeners(0).once('close', leave);
    response.once('close', () => {
      socket.off('close', leave);
      leave();
    });
    if (socket.destroyed) leave();
  }

  /** The client has disconnected, or has its whole answer. */
  get gone() {
    return this.left.signal.aborted;
  }

  /** @param {() => void} then */
  whenGone(then) {
    if (this.gone) then();
    else this.left.signal.addEventListener('abort', then, { once: true });
  }

  /** Resolves when more can be written, or when the client has disconnected. @param {Uint8Array} bytes */
  async write(bytes) {
    if (this.gone || this.response.write(bytes)) return;
    await once(this.response, 'drain', { signal: this.left.signal }).catch(() => undefined);
  }
}
