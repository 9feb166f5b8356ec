import { request } from 'node:http';

/** Asks this machine's loopback for a page under the host name of the address, as a browser does for `NAME.localhost`. */
export function getPage(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; cookie: string; text: string }> {
  const { host, port, pathname, search } = new URL(url);
  const to = { host: '127.0.0.1', port, path: pathname + search, headers: { Host: host, ...headers }, agent: false };
  return new Promise((resolve, reject) => {
    const asked = request(to, (response) => {
      let text = '';
      response.on('data', (bytes: Buffer) => (text += bytes.toString()));
      const cookie = String(response.headers['set-cookie'] ?? '').split(';')[0] ?? '';
      response.on('end', () => resolve({ status: response.statusCode ?? 0, cookie, text }));
    });
    asked.on('error', reject);
    asked.end();
  });
}
