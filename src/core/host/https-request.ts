import { lookup } from 'node:dns';
import { lookup as lookupAll } from 'node:dns/promises';
import { existsSync, readFileSync } from 'node:fs';
import http, { type IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { rootCertificates, connect as tlsConnect } from 'node:tls';
import { keychainCertificates } from './keychain-certificates.ts';

export interface HostAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface HostRequest {
  readonly method: 'GET' | 'PATCH' | 'POST' | 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
  /** The answer's body is not read: it may have no end. */
  readonly headOnly?: boolean;
  /** Throws for addresses that must not be connected to. Called with the addresses that are used. */
  readonly judge?: (addresses: readonly string[]) => void;
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
  { type, body }: { readonly type: string; readonly body: string },
  env: NodeJS.ProcessEnv,
  timeoutMs: number,
  platform: NodeJS.Platform = process.platform,
): Promise<HostAnswer> {
  return send(address, { method: 'POST', headers: { 'content-type': type }, body, timeoutMs }, env, platform);
}

/**
 * Sends one request of this host, as {@link post} does.
 *
 * @throws {Error} as {@link post}, for an answer of more than 1 MiB, and what `judge` throws
 */
export async function send(
  address: string,
  asked: HostRequest,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): Promise<HostAnswer> {
  const url = new URL(address);
  const signal = AbortSignal.timeout(asked.timeoutMs);
  const proxy = proxyFor(url, env);
  await judgeAhead(url, proxy !== undefined, asked.judge);
  const socket = proxy === undefined ? undefined : await tunnel(proxy, url, signal);
  const secure = url.protocol === 'https:';
  const trust = secure ? trustOf(env, platform) : {};
  // A connection that was kept from an earlier request was not judged by this one.
  const fresh = asked.judge === undefined ? {} : { connection: 'close' };
  const length = asked.body === undefined ? {} : { 'content-length': Buffer.byteLength(asked.body) };
  return new Promise((resolve, reject) => {
    const request = (secure ? https : http).request(url, {
      method: asked.method,
      signal,
      ...trust,
      headers: { ...asked.headers, ...fresh, ...length },
      ...(asked.judge === undefined ? {} : { lookup: judgedLookup(asked.judge) }),
      ...(socket === undefined
        ? {}
        : { createConnection: () => tlsConnect({ ...trust, socket, servername: url.hostname }) }),
    });
    request.once('error', reject);
    request.once('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      let body = '';
      if (asked.headOnly === true) {
        resolve({ status, headers, body });
        response.destroy();
        return;
      }
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        body += part;
        if (body.length > MAX_ANSWER_CHARACTERS) response.destroy(new Error('the answer is too long'));
      });
      response.once('error', reject);
      response.once('end', () => resolve({ status, headers, body }));
    });
    request.end(asked.body);
  });
}

/** An address in place of a name is never looked up, and a proxy looks names up itself. */
async function judgeAhead(url: URL, isProxied: boolean, judge: HostRequest['judge']): Promise<void> {
  if (judge === undefined) return;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) judge([host]);
  else if (isProxied) {
    // A name that only the proxy can resolve is the proxy's to judge.
    const found = await lookupAll(host, { all: true }).catch(() => []);
    judge(found.map(({ address }) => address));
  }
}

/** Connects to addresses that were judged: a second lookup could give others. */
function judgedLookup(judge: (addresses: readonly string[]) => void): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      try {
        if (error === null) judge(found.map(({ address }) => address));
      } catch (refusal) {
        callback(refusal as Error, []);
        return;
      }
      const [first] = found ?? [];
      if (error !== null || first === undefined) callback(error ?? new Error(`${host} has no address`), []);
      else if (options.all === true) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
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
