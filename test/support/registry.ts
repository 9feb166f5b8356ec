import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A registry on loopback: it serves the files that it is given by their paths. */
export interface Registry extends AsyncDisposable {
  readonly url: string;
  /** Served as they are, by path; what a test changes here is served from then on. */
  readonly files: Map<string, Buffer>;
  /** Paths, in the order of the requests. */
  readonly asked: string[];
}

export async function openRegistry(files: Readonly<Record<string, string | Buffer>> = {}): Promise<Registry> {
  const served = new Map(Object.entries(files).map(([path, content]) => [path, Buffer.from(content)]));
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '');
    asked.push(path);
    const content = served.get(path);
    response.statusCode = content === undefined ? 404 : 200;
    response.end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    files: served,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const sha = (name: 'sha256' | 'sha512', content: string | Buffer): string =>
  createHash(name).update(content).digest('hex');
