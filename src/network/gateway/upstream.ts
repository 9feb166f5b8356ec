import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { BlockList, isIP, isIPv4 } from 'node:net';
import { RunClaudeError, usageError } from '../../core/errors.ts';
import { SPECIAL_ADDRESSES } from '../../core/text/special-addresses.ts';
import type { ProviderApi } from '../../core/types/agent/credential.ts';
import type { Provider, UpstreamProxy } from '../../core/types/gateway.ts';
import type { RelayTargets } from './relay.ts';

const DEFAULT_PROVIDER = 'https://api.anthropic.com';

/** Uses of addresses that the gateway's network cannot or must not reach, but this machine can. */
const NEAR_USES = new Set(['this network', 'private', 'shared', 'loopback', 'link-local', 'link-local, metadata']);
const near = new BlockList();
for (const [range, use] of SPECIAL_ADDRESSES) {
  const [base = '', bits] = range.split('/');
  if (NEAR_USES.has(use)) near.addSubnet(base, Number(bits), isIPv4(base) ? 'ipv4' : 'ipv6');
}

/** Addresses that a session's gateway needs outside of the policy. */
export interface Upstreams {
  readonly provider: Provider;
  readonly proxy: UpstreamProxy | undefined;
  readonly targets: RelayTargets;
  /** Certificates that this host trusts besides the well-known ones, in PEM. */
  readonly extraCa: string;
}

type Environment = Readonly<Record<string, string | undefined>>;
type Cloud = { readonly url: string; readonly api: ProviderApi };

/** Variables that name the host's proxy, the one that counts first. */
const PROXY_VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'] as const;

/**
 * The proxy that the environment names, and the certificates that it adds. The gateway, `doctor` and `--check` all ask here.
 *
 * @throws {RunClaudeError} USAGE for a proxy that is not supported, CA_UNREADABLE
 */
export function readWayOut(env: Environment): { readonly proxy: URL | undefined; readonly extraCa: string } {
  const name = PROXY_VARIABLES.find((one) => (env[one] ?? '') !== '');
  const proxy = name === undefined ? undefined : httpUrl(env[name] ?? '', name, PROXY_HINT);
  if (proxy?.protocol === 'https:') throw usageError(`${name}: a proxy reached over TLS is not supported`, PROXY_HINT);
  return { proxy, extraCa: extraCa(env) };
}

const PROXY_HINT = "Use the proxy's http:// address. Proxies over TLS and SOCKS are not supported.";

/**
 * Refuses an environment from which no gateway starts.
 *
 * @throws {RunClaudeError} USAGE for a provider or proxy address that is not an http(s) URL; CA_UNREADABLE
 */
export function requireWayOut(env: Environment, cloud?: Cloud): void {
  providerUrl(env, cloud);
  readWayOut(env);
}

/**
 * Addresses of the provider and of the host's HTTPS proxy, and which of them only this machine can reach. Throws as
 * requireWayOut does.
 */
export async function findUpstreams(env: Environment, cloud?: Cloud): Promise<Upstreams> {
  const provider = providerUrl(env, cloud);
  const { proxy, extraCa } = readWayOut(env);
  const [providerNear, proxyNear] = await Promise.all([isNear(provider), proxy === undefined ? false : isNear(proxy)]);
  return {
    provider: { url: provider.href, relay: providerNear, ...(cloud === undefined ? {} : { api: cloud.api }) },
    proxy: proxy === undefined ? undefined : { url: proxy.href, relay: proxyNear, except: noProxy(env) },
    targets: {
      ...(providerNear ? { provider: target(provider) } : {}),
      ...(proxyNear && proxy !== undefined ? { proxy: target(proxy) } : {}),
    },
    extraCa,
  };
}

function providerUrl(env: Environment, cloud: Cloud | undefined): URL {
  return cloud === undefined
    ? httpUrl(env['ANTHROPIC_BASE_URL'] || DEFAULT_PROVIDER, 'ANTHROPIC_BASE_URL')
    : httpUrl(cloud.url, `the base URL of ${cloud.api.kind}`);
}

/**
 * Refuses a provider or a proxy that the gateway reaches through this machine, where its requests would be readable: they are
 * part of the container's output, and the engine's machine keeps that.
 *
 * @throws {RunClaudeError} USAGE
 */
export function refuseReadableRelay({ provider, proxy }: Pick<Upstreams, 'provider' | 'proxy'>, on: string): void {
  const isReadable = provider.relay && provider.url.startsWith('http:');
  if (!isReadable && proxy?.relay !== true) return;
  const url = isReadable ? provider.url : (proxy?.url ?? '');
  throw usageError(
    `${on} does not support ${isReadable ? 'a provider' : 'a proxy'} that only this machine reaches: ${new URL(url).host}`,
    'The node would keep the requests, with the credential, in its log. Use an address that the nodes reach.',
  );
}

/** The names of NO_PROXY, as curl reads it: a name includes its subdomains. Address ranges do not apply to names. */
function noProxy(env: Environment): readonly string[] {
  const texts = (env['NO_PROXY'] || env['no_proxy'] || '').split(/[,\s]+/);
  return texts.flatMap((text) => {
    const [, name, port] = /^(?:\*?\.)?(\*|[A-Za-z0-9_.-]+?)(?::(\d{1,5}))?$/.exec(text) ?? [];
    return name === undefined ? [] : [`${name.toLowerCase()}${port === undefined ? '' : `@${port}`}`];
  });
}

function httpUrl(text: string, name: string, hint?: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw usageError(`${name} is not an http:// or https:// address`, hint);
  }
  return url;
}

const bareHost = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

function target(url: URL): { readonly host: string; readonly port: number } {
  return { host: bareHost(url), port: Number(url.port || (url.protocol === 'https:' ? 443 : 80)) };
}

async function isNear(url: URL): Promise<boolean> {
  const host = bareHost(url);
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  if (isIP(host) !== 0) return near.check(host, isIPv4(host) ? 'ipv4' : 'ipv6');
  try {
    const found = await lookup(host, { all: true });
    return found.some(({ address, family }) => near.check(address, family === 4 ? 'ipv4' : 'ipv6'));
  } catch {
    // Not resolved here: perhaps a proxy resolves it. Otherwise the first request fails.
    return false;
  }
}

function extraCa(env: Environment): string {
  const file = env['NODE_EXTRA_CA_CERTS'] ?? '';
  if (file === '') return '';
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new RunClaudeError('CA_UNREADABLE', `NODE_EXTRA_CA_CERTS: cannot read ${file}`, {
      hint: 'Name a readable file, or unset it.',
      cause: error,
    });
  }
}
