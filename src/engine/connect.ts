import { createHash } from 'node:crypto';
import { RunClaudeError } from '../errors.ts';
import type { Engine } from '../types/engine.ts';
import { type Client, openClient } from './client.ts';
import { compareRecord } from './compare-record.ts';
import { openEngine } from './docker.ts';
import { type Candidate, endpointName, findCandidates } from './endpoint.ts';
import { readFacts } from './facts.ts';

export interface ConnectOptions {
  readonly choice: 'auto' | 'docker' | 'podman';
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** From ownerOf(): marks what is ours among several state directories on one engine. */
  readonly owner: string;
}

/** The owner label's value for the state directory with this real path. */
export function ownerOf(stateDir: string): string {
  return createHash('sha256').update(stateDir).digest('hex').slice(0, 16);
}

/**
 * Connects to the first engine that answers, where the docker command would look for it, then Podman's sockets.
 *
 * @throws RunClaudeError ENGINE_UNREACHABLE (where it looked, what each said, how to start one), ENGINE_ENDPOINT.
 */
export async function connectEngine(options: ConnectOptions): Promise<Engine> {
  const attempts: string[] = [];
  let denied = false;
  for (const candidate of findCandidates(options)) {
    const client = openClient(candidate.endpoint);
    try {
      return await greet(client, candidate, options);
    } catch (error) {
      client.close();
      if (error instanceof RunClaudeError) throw error;
      const why = reasonOf(error);
      denied ||= why === 'permission denied';
      const named = candidate.from === 'default' ? '' : ` (${candidate.from})`;
      attempts.push(`${endpointName(candidate.endpoint)}${named}: ${why}`);
    }
  }
  const looked = attempts.map((attempt) => `\n  ${attempt}`).join('');
  throw new RunClaudeError('ENGINE_UNREACHABLE', `no container engine answers. Looked at:${looked}`, {
    hint: startHint(options.platform, denied),
  });
}

async function greet(client: Client, candidate: Candidate, options: ConnectOptions): Promise<Engine> {
  // A busy machine answers late; an engine that is not there answers at once.
  const timeoutMs = 30_000;
  const [version, info] = await Promise.all([client.get('/version', timeoutMs), client.get('/info', timeoutMs)]);
  const facts = readFacts(candidate.endpoint, options.platform, version, info);
  return openEngine(client, { facts, owner: options.owner, compare: compareRecord });
}

function reasonOf(error: unknown): string {
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'not there';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  if (code === 'ECONNREFUSED') return 'nobody listens';
  if (name === 'TimeoutError' || name === 'AbortError') return 'no answer';
  return message.split('\n')[0] ?? 'failed';
}

function startHint(platform: NodeJS.Platform, denied: boolean): string {
  if (denied) return 'you may not use that socket: add yourself to its group (usually docker) and log in again';
  if (platform === 'darwin') return 'start OrbStack or Docker Desktop, then try again';
  return 'start one: sudo systemctl start docker; on Debian and Ubuntu scripts/install-engine.sh installs it';
}
