import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A token endpoint on loopback that spends each refresh token once, as the provider's does. */
export interface OAuthEndpoint extends AsyncDisposable {
  readonly url: string;
  /** Refresh tokens that were sent, in order. */
  readonly asked: string[];
  /** Answers this status without a body from now on; 0: serves again. */
  fail(status: number): void;
  /** Answers after this many milliseconds from now on. */
  slow(ms: number): void;
  /** The refresh token that is still good. */
  valid: string;
  /** Whether each answer brings a new refresh token, as it does at first. */
  rotates: boolean;
}

export async function startOAuthEndpoint(valid: string): Promise<OAuthEndpoint> {
  let failing = 0;
  let made = 0;
  let delayMs = 0;
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    const answer = (): unknown => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { refresh_token: string };
      if (failing !== 0) return response.writeHead(failing).end();
      if (body.refresh_token !== endpoint.valid)
        return response.writeHead(400).end(JSON.stringify({ error: 'invalid_grant' }));
      made += 1;
      if (endpoint.rotates) endpoint.valid = `refresh-${made}`;
      const next = endpoint.rotates ? { refresh_token: endpoint.valid } : {};
      const tokens = { access_token: `access-${made}`, ...next, expires_in: 28_800 };
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(tokens));
    };
    request.on('end', () => {
      asked.push((JSON.parse(Buffer.concat(chunks).toString()) as { refresh_token: string }).refresh_token);
      if (delayMs === 0) answer();
      else setTimeout(() => void (response.destroyed || answer()), delayMs).unref();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const endpoint: OAuthEndpoint = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/oauth/token`,
    asked,
    fail: (status) => {
      failing = status;
    },
    slow: (ms) => {
      delayMs = ms;
    },
    valid,
    rotates: true,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return endpoint;
}
