import { taskSpec } from '../engine/hardening/hardened.ts';
import { readSeccompProfile } from '../engine/hardening/seccomp.ts';
import { RunClaudeError } from '../errors.ts';
import type { Engine, Mount } from '../types/engine.ts';

export interface BundleRequest {
  readonly engine: Engine;
  readonly image: string;
  readonly sessionId: string;
  /** Mounts that show the session's workspace at /workspace; mounted read-only here. */
  readonly mounts: readonly Mount[];
  /** 'uid:gid' of the agent. */
  readonly user: string;
  /** Commits of the user's repository: what they reach is left out of the bundle. */
  readonly known: readonly string[];
  readonly maxBytes: number;
}

/**
 * A bundle of the commits that a session made on branches or on a detached HEAD, made in a container without network
 * by the image's git; undefined when there are none. Programs that the repository's configuration names run in that
 * container only. The bundle is as hostile as the session.
 *
 * @throws {RunClaudeError} COMMITS_TOO_LARGE, COMMITS_UNREADABLE and what the engine throws.
 */
export async function bundleCommits(request: BundleRequest): Promise<Buffer | undefined> {
  const spec = taskSpec({
    sessionId: request.sessionId,
    image: request.image,
    seccomp: await readSeccompProfile(),
    suffix: 'commits',
    user: request.user,
    argv: ['/bin/sh', '-c', SCRIPT, 'commits', ...request.known],
    env: { GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0' },
    mounts: request.mounts.map((mount) => (mount.kind === 'tmpfs' ? mount : { ...mount, readonly: true })),
    stdin: 'none',
  });
  await (await request.engine.find(spec.name))?.remove();
  const container = await request.engine.create(spec);
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    container.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= request.maxBytes) chunks.push(chunk);
      else void container.kill('SIGKILL').catch(() => undefined);
    });
    let errorText = '';
    container.stderr.on('data', (chunk: Buffer) => {
      errorText = (errorText + chunk.toString('latin1')).slice(-300);
    });
    const ended = new Promise<void>((resolve) => {
      container.stdout.once('end', resolve).once('close', resolve);
    });
    const timer = setTimeout(() => void container.kill('SIGKILL').catch(() => undefined), BUNDLE_TIMEOUT_MS);
    await container.start();
    const status = await container.wait().finally(() => clearTimeout(timer));
    await ended;
    if (size > request.maxBytes) {
      throw new RunClaudeError('COMMITS_TOO_LARGE', `the session's commits take more than ${request.maxBytes} bytes`, {
        hint: 'Take the files by `run-claude apply`; `run-claude explore` shows the repository.',
      });
    }
    if (status === NO_COMMITS) return undefined;
    if (status !== 0) {
      throw new RunClaudeError(
        'COMMITS_UNREADABLE',
        `git cannot read the session's repository (${status}): ${errorText}`,
      );
    }
    return Buffer.concat(chunks);
  } finally {
    await container.remove();
  }
}

const NO_COMMITS = 44;
const BUNDLE_TIMEOUT_MS = 300_000;

/** `$@` are commits of the host: those that the session's repository knows are left out of the bundle. */
const SCRIPT = `cd /workspace && git rev-parse --git-dir >/dev/null 2>&1 || exit ${NO_COMMITS}
set -- $(for tip in "$@"; do git cat-file -e "$tip" 2>/dev/null && printf '^%s ' "$tip"; done)
heads=--branches
git rev-parse -q --verify HEAD >/dev/null 2>&1 && heads='--branches HEAD'
[ -n "$(git rev-list $heads --max-count=1 "$@" --)" ] || exit ${NO_COMMITS}
exec git bundle create -q - $heads "$@"`;
