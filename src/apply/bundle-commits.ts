import { spawnSync } from 'node:child_process';
import { RunClaudeError } from '../errors.ts';
import type { ContainerSpec, Engine, Mount } from '../types/engine.ts';

export interface BundleRequest {
  readonly engine: Engine;
  readonly image: string;
  readonly sessionId: string;
  /** Mounts that show the session's workspace at /workspace; readonly ones are enough. */
  readonly mounts: readonly Mount[];
  /** 'uid:gid' of the agent. */
  readonly user: string;
  readonly seccomp: string | undefined;
  /** The person's own repository: what it has need not be in the bundle. */
  readonly project: string;
  readonly maxBytes: number;
}

/**
 * A bundle of the commits that the session made on branches, made in a container without network by the image's git;
 * undefined when there are none. The host's git only lists the person's own refs. Throws RunClaudeError
 * COMMITS_TOO_LARGE, COMMITS_UNREADABLE and what the engine throws.
 */
export async function bundleCommits(request: BundleRequest): Promise<Buffer | undefined> {
  const container = await request.engine.create(bundleSpec(request));
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    container.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= request.maxBytes) chunks.push(chunk);
      else void container.kill('SIGKILL').catch(() => undefined);
    });
    container.stderr.resume();
    const ended = new Promise<void>((resolve) => container.stdout.once('end', resolve));
    await container.start();
    const status = await container.wait();
    await ended;
    if (size > request.maxBytes)
      throw new RunClaudeError('COMMITS_TOO_LARGE', `the session's commits are larger than ${request.maxBytes} bytes`);
    if (status === NO_COMMITS) return undefined;
    if (status !== 0)
      throw new RunClaudeError('COMMITS_UNREADABLE', `git could not read the session's repository (status ${status})`);
    return Buffer.concat(chunks);
  } finally {
    await container.remove();
  }
}

const NO_COMMITS = 44;

/** `$@` are commits of the host: those that the session's repository knows are left out of the bundle. */
const SCRIPT = `cd /workspace && git rev-parse --git-dir >/dev/null || exit 45
set -- $(for tip in "$@"; do git cat-file -e "$tip" 2>/dev/null && printf '^%s ' "$tip"; done)
[ -n "$(git rev-list --branches --max-count=1 "$@")" ] || exit ${NO_COMMITS}
exec git bundle create -q - --branches "$@"`;

function bundleSpec(request: BundleRequest): ContainerSpec {
  const { sessionId, image, user, mounts, seccomp } = request;
  const tmp: Mount = { kind: 'tmpfs', target: '/tmp', sizeMb: 64, mode: 0o1777, noexec: true };
  return {
    name: `run-claude-${sessionId}-commits`,
    role: 'task',
    sessionId,
    image,
    argv: ['/bin/sh', '-c', SCRIPT, 'commits', ...hostTips(request.project)],
    user,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' },
    workdir: '/',
    mounts: [...mounts, tmp],
    network: 'none',
    capabilities: [],
    seccomp,
    limits: { memoryMb: 1024, cpus: 0, pids: 64, nofile: 1024, shmMb: 16 },
    tty: false,
    stdin: 'none',
    hostname: 'sandbox',
  };
}

const MOST_TIPS = 500;

/** Commits that the person's branches and tags name. */
function hostTips(project: string): string[] {
  const words = [
    '-c',
    'core.fsmonitor=false',
    'for-each-ref',
    `--count=${MOST_TIPS}`,
    '--sort=-committerdate',
    '--format=%(objectname)',
  ];
  const listed = spawnSync('git', words, { cwd: project, encoding: 'utf8' });
  return listed.status === 0
    ? [...new Set(listed.stdout.split('\n').filter((id) => /^[0-9a-f]{40,64}$/.test(id)))]
    : [];
}
