import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

/** The engine of the test run at a TCP address of loopback: run-claude takes it for one that cannot mount directories. */
export async function openTcpEngine(): Promise<AsyncDisposable & { readonly host: string }> {
  const named = process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock';
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const engine = connect({ path: named.replace(/^unix:\/\//, ''), allowHalfOpen: true });
    for (const [from, to] of [
      [client, engine],
      [engine, client],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => open.delete(from));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
