import { existsSync, readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { rootCertificates, connect as tlsConnect } from 'node:tls';
import { keychainCertificates } from '../../host/keychain-certificates.ts';

export interface PostResponse {
  readonly status: number;
  readonly body: string;
}

const MAX_ANSWER_CHARACTERS = 1 << 20;

/**
 * Sends one POST to a token endpoint, through the user's HTTPS_PROXY when the address is https and NO_PROXY does not name
 * its host. Redirects are not followed: the body is sent to this address only.
 *
 * @throws {Error} when there is no answer within `timeoutMs`; its message names hosts, never the body
 */
export async function post(
  address: string,
  content: { readonly type: string; readonly body: string },
  env: NodeJS.ProcessEnv,
  timeoutMs: number,
  platform: NodeJS.Platform = process.platform,
): Promise<PostResponse> {
  const url = new URL(address);
  const signal = AbortSignal.timeout(timeoutMs);
  const proxy = proxyFor(url, env);
  const socket = proxy === undefined ? undefined : await tunnel(proxy, url, signal);
  const secure = url.protocol === 'https:';
  const trust = secure ? trustOf(env, platform) : {};
  return new Promise((resolve, reject) => {
    const request = (secure ? https : http).request(url, {
      method: 'POST',
      signal,
      ...trust,
      headers: { 'content-type': content.type, 'content-length': Buffer.byteLength(content.body) },
      ...(socket === undefined
        ? {}
        : { createConnection: () => tlsConnect({ ...trust, socket, servername: url.hostname }) }),
    });
    request.once('error', reject);
    request.once('response', (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        body += part;
        if (body.length > MAX_ANSWER_CHARACTERS) response.destroy(new Error('the answer is too long'));
      });
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    request.end(content.body);
  });
}

/** Node reads no Keychain. Authorities that are named replace its own, those of NODE_EXTRA_CA_CERTS included. */
function trustOf(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): { ca?: string[] } {
  const inKeychain = keychainCertificates(platform);
  if (inKeychain.length === 0) return {};
  const bundle = env['NODE_EXTRA_CA_CERTS'] ?? '';
  return { ca: [...rootCertificates, ...(existsSync(bundle) ? [readFileSync(bundle, 'utf8')] : []), ...inKeychain] };
}

function proxyFor(url: URL, env: NodeJS.ProcessEnv): URL | undefined {
  const text = env['HTTPS_PROXY'] || env['https_proxy'] || env['ALL_PROXY'] || env['all_proxy'] || '';
  if (url.protocol !== 'https:' || !URL.canParse(text)) return undefined;
  const proxy = new URL(text);
  const except = (env['NO_PROXY'] || env['no_proxy'] || '').toLowerCase().split(/[,\s]+/);
  const host = url.hostname.toLowerCase();
  const isDirect = except.some((entry) => {
    const name = entry.replace(/^\*?\./, '').replace(/:\d+$/, '');
    return name !== '' && (name === '*' || host === name || host.endsWith(`.${name}`));
  });
  return proxy.protocol === 'http:' && !isDirect ? proxy : undefined;
}

function tunnel(proxy: URL, to: URL, signal: AbortSignal): Promise<Socket> {
  const authority = `${to.hostname}:${to.port || '443'}`;
  const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return new Promise((resolve, reject) => {
    const request = http.request({
      host: proxy.hostname,
      port: proxy.port || 80,
      method: 'CONNECT',
      path: authority,
      signal,
      headers: {
        host: authority,
        ...(proxy.username === '' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
      },
    });
    request.once('error', reject);
    request.once('connect', (response, socket) => {
      if (response.statusCode === 200) resolve(socket);
      else {
        socket.destroy();
        reject(new Error(`the HTTPS proxy answered ${response.statusCode}`));
      }
    });
    request.end();
  });
}
