import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RunClaudeError } from '../../core/errors.ts';
import type { PreviewServer } from './serve-port.ts';

const LOOPBACK = ['127.0.0.1', '::1'] as const;
/** Free ports that are tried until both addresses of loopback have one. */
const MAX_TRIES = 10;

/**
 * Listens on this machine's loopback, at a number or, with `instead`, at a free one where it cannot be had. Browsers take
 * `NAME.localhost` for both addresses of loopback: on the other one another user's program could wait for the token.
 * `make` makes one server for each address. Returns the port, and what closes it.
 *
 * @throws {RunClaudeError} PORT_TAKEN
 */
export async function listenOnLoopback(
  make: () => PreviewServer,
  wanted: number,
  instead: 'free' | 'none',
): Promise<{ readonly hostPort: number; readonly close: () => void }> {
  let port = wanted;
  for (let tries = 0; ; tries++) {
    const open: PreviewServer[] = [];
    const close = (): void => {
      for (const one of open) one.close();
    };
    try {
      for (const address of LOOPBACK) {
        const made = make();
        const isOpen = await listen(made.server, address, port);
        if (!isOpen) continue;
        open.push(made);
        port = (made.server.address() as AddressInfo).port;
      }
      return { hostPort: port, close };
    } catch (error) {
      close();
      if (instead === 'none' || tries >= MAX_TRIES) throw taken(wanted, error as NodeJS.ErrnoException);
      port = 0;
    }
  }
}

/** False where this machine does not have the address. */
function listen(server: Server, host: (typeof LOOPBACK)[number], port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isMissing = host === '::1' && ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(error.code ?? '');
      if (isMissing) resolve(false);
      else reject(error);
    });
    server.listen({ host, port, ...(host === '::1' ? { ipv6Only: true } : {}) }, () => {
      // A connection that could not be accepted ends none of the others.
      server.on('error', () => undefined);
      resolve(true);
    });
  });
}

function taken(port: number, error: NodeJS.ErrnoException): RunClaudeError {
  const why = error.code === 'EADDRINUSE' ? 'another program uses it' : (error.code ?? error.message);
  return new RunClaudeError('PORT_TAKEN', `port ${port} of this machine cannot be opened: ${why}`, {
    hint: 'Name another one after the colon, as in 3000:3001, or none to get a free one.',
    cause: error,
  });
}
