import { createHash } from 'node:crypto';
import { RunClaudeError } from '../../core/errors.ts';
import type { EngineAddress } from '../../core/types/engine.ts';
import type { Engine } from '../../core/types/runtime.ts';
import { podmanInfo, readAnswer } from './answers.ts';
import { compareRecord } from './compare-record.ts';
import { type Client, openClient } from './connection/client.ts';
import { type Candidate, candidateAt, endpointName, findCandidates } from './connection/endpoint.ts';
import type { MakeDir } from './connection/ssh-login.ts';
import { openEngine } from './docker.ts';
import { readFacts, withPodmanInfo } from './facts.ts';
import { PODMAN_INFO } from './podman/podman.ts';
import { comparePodmanRecord } from './podman/podman-record.ts';

export interface ConnectOptions {
  readonly choice: 'auto' | 'docker' | 'podman';
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** From ownerOf(): tells the objects of several state directories on one engine apart. */
  readonly owner: string;
  /** Only this engine: `name` is the one of the user's configuration. */
  readonly only?: EngineAddress & { readonly name?: string };
  /** How long an engine may take to answer; default {@link ANSWER_LIMIT_MS}. */
  readonly answerMs?: number;
  /** Makes directories for files that a command needs while it runs. By default a killed command leaves them. */
  readonly makeDir?: MakeDir;
}

/** A busy engine answers late. An engine that does not exist fails at once. */
const ANSWER_LIMIT_MS = 30_000;

/** The owner label's value for the state directory with this real path. */
export function ownerOf(stateDir: string): string {
  return createHash('sha256').update(stateDir).digest('hex').slice(0, 16);
}

/**
 * Connects to the first engine that answers: those that the docker command would use, then Podman's sockets.
 *
 * @throws RunClaudeError ENGINE_UNREACHABLE (with the addresses, the error of each, and how to start an engine), ENGINE_ENDPOINT.
 */
export async function connectEngine(options: ConnectOptions): Promise<Engine> {
  const attempts: Attempt[] = [];
  for (const candidate of candidatesOf(options)) {
    const client = openClient(candidate.endpoint, options.makeDir);
    try {
      return await greet(client, candidate, options);
    } catch (error) {
      await client.close();
      if (error instanceof RunClaudeError) throw error;
      attempts.push({ candidate, why: reasonOf(error) });
    }
  }
  // An engine that exists and does not answer is reported before the default addresses without one.
  const there = attempts.filter(({ why }) => why !== NOT_THERE);
  const looked = (there.length > 0 ? there : attempts).map(({ candidate: { endpoint, from }, why }) => {
    return `\n  ${endpointName(endpoint)}${from === 'default' ? '' : ` (${from})`}: ${why}`;
  });
  throw new RunClaudeError('ENGINE_UNREACHABLE', `no container engine answers. Looked at:${looked.join('')}`, {
    hint: startHint(options, attempts),
  });
}

/** Whether connecting with these options tries this address, as facts of an engine have it. */
export function triesEndpoint(options: ConnectOptions, endpoint: string): boolean {
  try {
    return candidatesOf(options).some((candidate) => endpointName(candidate.endpoint) === endpoint);
  } catch {
    // An address that cannot be read is not this one.
    return false;
  }
}

function candidatesOf(options: ConnectOptions): readonly Candidate[] {
  const { only, home } = options;
  if (only === undefined) return findCandidates(options);
  return [candidateAt(only, only.name === undefined ? 'the record of the session' : `[engine.${only.name}]`, home)];
}

interface Attempt {
  readonly candidate: Candidate;
  readonly why: string;
}

const NOT_THERE = 'not there';
const DENIED = 'permission denied';
const SILENT = 'no answer';

async function greet(client: Client, candidate: Candidate, options: ConnectOptions): Promise<Engine> {
  const timeoutMs = options.answerMs ?? ANSWER_LIMIT_MS;
  const answers = Promise.all([client.get('/version', timeoutMs), client.get('/info', timeoutMs)]);
  // Loaded while the engine answers.
  client.docker().catch(() => undefined);
  const [version, info] = await answers;
  const read = readFacts(candidate.endpoint, options.platform, { version, info });
  const on = options.only?.name;
  const facts = on === undefined ? read : { ...read, on };
  const { owner } = options;
  if (facts.kind === 'docker')
    return openEngine(client, { facts, owner, compare: (spec, record) => compareRecord(spec, record) });
  // A version that is too old has no answer, and is refused when a session is planned.
  const own = readAnswer(await client.get(PODMAN_INFO, timeoutMs).catch(() => ({})), podmanInfo, PODMAN_INFO);
  return openEngine(client, { facts: withPodmanInfo(facts, own), owner, compare: comparePodmanRecord });
}

function reasonOf(error: unknown): string {
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return NOT_THERE;
  if (code === 'EACCES' || code === 'EPERM') return DENIED;
  if (code === 'ECONNREFUSED') return 'nobody listens';
  if (name === 'TimeoutError' || name === 'AbortError') return SILENT;
  return message.split('\n')[0] ?? 'failed';
}

/** What to do about an engine that does not answer. */
export function startHint(
  { choice, platform }: Pick<ConnectOptions, 'choice' | 'platform'>,
  attempts: readonly Attempt[],
): string {
  // Of several engines, the preferred one: Podman's socket of root is closed on many machines that use Docker.
  const closed = attempts.find(({ why }) => why === DENIED || why === SILENT);
  if (closed?.why === SILENT)
    return `${endpointName(closed.candidate.endpoint)} takes connections and answers none: wait until the engine is less busy, or restart it.`;
  if (closed !== undefined)
    return 'You may not use that socket: add yourself to its group (usually docker) and log in again.';
  const named = attempts.find(({ candidate }) => candidate.from !== 'default')?.candidate.from;
  if (named !== undefined) return `${named} names it: start that engine, or name another one.`;
  if (choice === 'podman')
    return `Start it: ${platform === 'darwin' ? 'podman machine start' : 'systemctl --user start podman.socket'}.`;
  if (platform === 'darwin') return 'Start OrbStack or Docker Desktop, then try again.';
  return 'Start one: sudo systemctl start docker; on Debian and Ubuntu apt-get install docker.io brings it.';
}
