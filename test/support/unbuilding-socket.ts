import { connect, createServer, type Socket } from 'node:net';
import path from 'node:path';

export interface UnbuildingSocket {
  readonly host: string;
  /** How many builds were asked for. */
  builds(): number;
  close(): void;
}

/** The engine's own socket behind one in `dir` that takes every build and does none of them. */
export async function openUnbuildingSocket(dir: string): Promise<UnbuildingSocket> {
  const socketPath = path.join(dir, 'unbuilding');
  const open = new Set<Socket>();
  let builds = 0;
  const server = createServer((client) => {
    const onward = connect(process.env['DOCKER_HOST']?.replace(/^unix:\/\//, '') ?? '/var/run/docker.sock');
    for (const [one, other] of [
      [client, onward],
      [onward, client],
    ] as const) {
      open.add(one);
      one.on('close', () => other.destroy());
      one.on('error', () => other.destroy());
    }
    onward.pipe(client);
    let end = '';
    let building = false;
    client.on('data', (chunk: Buffer) => {
      // A client waits for the answer before it asks again: a request begins with a piece.
      building ||= chunk.subarray(0, 12).toString('latin1').startsWith('POST /build?');
      if (!building) {
        onward.write(chunk);
        return;
      }
      end = (end + chunk.subarray(-5).toString('latin1')).slice(-5);
      if (end !== '0\r\n\r\n') return;
      building = false;
      end = '';
      builds += 1;
      const output = '{"stream":"built"}\n';
      client.write(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${output.length}\r\n\r\n${output}`,
      );
    });
    client.on('end', () => onward.end());
  });
  await new Promise<void>((resolve) => {
    server.listen(socketPath, resolve);
  });
  return {
    host: `unix://${socketPath}`,
    builds: () => builds,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
