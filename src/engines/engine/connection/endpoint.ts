import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RunClaudeError } from '../../../core/errors.ts';

/** An address as it is configured: src/core/types/engine.ts. */
interface EngineAddress {
  readonly host: string;
  readonly certPath?: string | undefined;
  readonly tlsVerify?: boolean | undefined;
}

/** How to reach one engine. */
export type Endpoint =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly tls: TlsFiles | undefined }
  | { readonly kind: 'ssh'; readonly destination: string; readonly port: string | undefined };

export interface TlsFiles {
  readonly ca: Buffer | undefined;
  readonly cert: Buffer | undefined;
  readonly key: Buffer | undefined;
  readonly verify: boolean;
}

/** An endpoint and its source, e.g. 'DOCKER_HOST' or 'docker context "orbstack"'. */
export interface Candidate {
  readonly endpoint: Endpoint;
  readonly from: string;
}

export interface EndpointSearch {
  readonly choice: 'auto' | 'docker' | 'podman';
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

/** The endpoint as the user would write it. */
export function endpointName(endpoint: Endpoint): string {
  if (endpoint.kind === 'unix') return `unix://${endpoint.path}`;
  if (endpoint.kind === 'ssh') return `ssh://${endpoint.destination}${endpoint.port ? `:${endpoint.port}` : ''}`;
  return `tcp://${endpoint.host}:${endpoint.port}`;
}

/**
 * Addresses of engines, in the order of attempts. An engine that the environment or a docker context names is the only
 * one: when it does not answer, no other engine replaces it.
 *
 * @throws RunClaudeError ENGINE_ENDPOINT when the environment or the context names an address of another form.
 */
export function findCandidates(search: EndpointSearch): readonly Candidate[] {
  const docker = search.choice === 'podman' ? [] : dockerCandidates(search);
  if (docker.some((candidate) => candidate.from !== 'default')) return docker;
  const podman = search.choice === 'docker' ? [] : podmanCandidates(search);
  if (podman.some((candidate) => candidate.from !== 'default')) return podman;
  return [...docker, ...podman];
}

/**
 * The engine with this address, of the configuration or of a session's record.
 *
 * @param from its source, for messages.
 * @throws RunClaudeError ENGINE_ENDPOINT when the address has another form, or a file of `certPath` cannot be read.
 */
export function candidateAt({ host, certPath, tlsVerify }: EngineAddress, from: string, home: string): Candidate {
  const dir = certPath?.replace(/^~(?=\/)/, home);
  const verify = tlsVerify ?? true;
  const none = { ca: undefined, cert: undefined, key: undefined, verify };
  const tls = dir === undefined ? (tlsVerify === undefined ? undefined : none) : tlsFiles(dir, verify);
  return { endpoint: parseEndpoint(host, from, tls), from };
}

function dockerCandidates({ env, home }: EndpointSearch): readonly Candidate[] {
  const configDir = env['DOCKER_CONFIG'] || join(home, '.docker');
  const host = env['DOCKER_HOST'];
  if (host)
    return [{ endpoint: parseEndpoint(host, 'DOCKER_HOST', environmentTls(env, configDir)), from: 'DOCKER_HOST' }];
  const context = env['DOCKER_CONTEXT'] || currentContext(configDir);
  if (context !== undefined && context !== 'default') return [contextCandidate(configDir, context)];
  const runtimeDir = env['XDG_RUNTIME_DIR'];
  return unixCandidates([
    '/var/run/docker.sock',
    ...(runtimeDir ? [join(runtimeDir, 'docker.sock')] : []),
    join(home, '.orbstack/run/docker.sock'),
    join(home, '.docker/run/docker.sock'),
    join(home, '.docker/desktop/docker.sock'),
  ]);
}

function podmanCandidates({ env, home }: EndpointSearch): readonly Candidate[] {
  const host = env['CONTAINER_HOST'];
  if (host) return [{ endpoint: parseEndpoint(host, 'CONTAINER_HOST', undefined), from: 'CONTAINER_HOST' }];
  const runtimeDir = env['XDG_RUNTIME_DIR'];
  return unixCandidates([
    ...(runtimeDir ? [join(runtimeDir, 'podman/podman.sock')] : []),
    '/run/podman/podman.sock',
    join(home, '.local/share/containers/podman/machine/podman.sock'),
  ]);
}

function unixCandidates(paths: readonly string[]): readonly Candidate[] {
  return paths.map((path) => ({ endpoint: { kind: 'unix', path }, from: 'default' }));
}

/**
 * Reads an address in the form of DOCKER_HOST.
 *
 * @param from its source, for the error.
 * @throws RunClaudeError ENGINE_ENDPOINT when it is not unix, tcp, http, https or ssh.
 */
export function parseEndpoint(address: string, from: string, tls: TlsFiles | undefined): Endpoint {
  if (address.startsWith('unix://')) return { kind: 'unix', path: address.slice('unix://'.length) };
  if (address.startsWith('/')) return { kind: 'unix', path: address };
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol === 'ssh:' && url.hostname !== '') {
    const user = url.username === '' ? '' : `${decodeURIComponent(url.username)}@`;
    const destination = `${user}${url.hostname.replace(/^\[|\]$/g, '')}`;
    // A destination that starts with '-' would be read by ssh as an option.
    if (!destination.startsWith('-')) return { kind: 'ssh', destination, port: url.port || undefined };
  }
  if (url && ['tcp:', 'http:', 'https:'].includes(url.protocol) && url.hostname !== '') {
    const secure = tls !== undefined || url.protocol === 'https:';
    const port = Number(url.port || (secure ? 2376 : 2375));
    const files = tls ?? (secure ? { ca: undefined, cert: undefined, key: undefined, verify: true } : undefined);
    return { kind: 'tcp', host: url.hostname.replace(/^\[|\]$/g, ''), port, tls: files };
  }
  throw new RunClaudeError('ENGINE_ENDPOINT', `${from} names no engine address that run-claude understands`, {
    hint: 'Use unix:///path/to/docker.sock, tcp://host:port or ssh://user@host.',
  });
}

function environmentTls(env: EndpointSearch['env'], configDir: string): TlsFiles | undefined {
  if (!env['DOCKER_TLS_VERIFY'] && !env['DOCKER_TLS']) return undefined;
  return tlsFiles(env['DOCKER_CERT_PATH'] || configDir, Boolean(env['DOCKER_TLS_VERIFY']));
}

function tlsFiles(dir: string, verify: boolean): TlsFiles {
  const read = (name: string): Buffer | undefined => readOptional(join(dir, name));
  return { ca: read('ca.pem'), cert: read('cert.pem'), key: read('key.pem'), verify };
}

function currentContext(configDir: string): string | undefined {
  const text = readOptional(join(configDir, 'config.json'))?.toString('utf8');
  if (text === undefined) return undefined;
  try {
    const name: unknown = JSON.parse(text).currentContext;
    return typeof name === 'string' && name !== '' ? name : undefined;
  } catch (error) {
    throw new RunClaudeError('ENGINE_ENDPOINT', `${join(configDir, 'config.json')} is not JSON`, { cause: error });
  }
}

/** The files of a docker context are named by the SHA-256 of its name (docker/cli, cli/context/store). */
function contextCandidate(configDir: string, name: string): Candidate {
  const from = `docker context "${name}"`;
  const id = createHash('sha256').update(name).digest('hex');
  const metaFile = join(configDir, 'contexts/meta', id, 'meta.json');
  const text = readOptional(metaFile)?.toString('utf8');
  if (text === undefined) {
    throw new RunClaudeError('ENGINE_ENDPOINT', `${from} does not exist`, {
      hint: 'docker context ls lists them; docker context use default takes the usual socket.',
    });
  }
  const meta = parseMeta(text, metaFile);
  const tlsDir = join(configDir, 'contexts/tls', id, 'docker');
  const files = tlsFiles(tlsDir, !meta.skipVerify);
  const tls = files.ca || files.cert || meta.skipVerify ? files : undefined;
  return { endpoint: parseEndpoint(meta.host, from, tls), from };
}

function parseMeta(text: string, file: string): { host: string; skipVerify: boolean } {
  try {
    const docker = JSON.parse(text).Endpoints.docker;
    return { host: String(docker.Host), skipVerify: docker.SkipTLSVerify === true };
  } catch (error) {
    throw new RunClaudeError('ENGINE_ENDPOINT', `${file} describes no docker endpoint`, { cause: error });
  }
}

function readOptional(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw new RunClaudeError('ENGINE_ENDPOINT', `cannot read ${file}`, { cause: error });
  }
}
