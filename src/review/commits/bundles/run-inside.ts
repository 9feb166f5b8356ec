import { RunClaudeError } from '../../../core/errors.ts';
import type { Mount } from '../../../core/types/engine.ts';
import type { Runtime } from '../../../core/types/runtime.ts';
import { removeContainer } from '../../../engines/engine/containers/remove-containers.ts';
import { taskSpec } from '../../../engines/engine/hardening/hardened.ts';
import { readSeccompProfile } from '../../../engines/engine/hardening/seccomp.ts';

/** What a container needs to read the repositories of a session. */
export interface InsideRequest {
  readonly engine: Runtime;
  readonly image: string;
  readonly sessionId: string;
  /** Mounts that show the session's workspace at /workspace; mounted read-only here. */
  readonly mounts: readonly Mount[];
  /** 'uid:gid' of the agent. */
  readonly user: string;
}

export interface InsideResult {
  readonly status: number;
  readonly output: Buffer;
  /** It wrote more than the limit, and was ended. */
  readonly isCut: boolean;
  readonly errorText: string;
}

interface InsideOptions {
  readonly maxBytes: number;
  readonly timeoutMs: number;
  /** Gets the output as it comes, instead of the result. What it throws ends the container, and is thrown. */
  readonly take?: (chunk: Buffer) => void;
}

/** Runs a script in its own container that can only read the workspace. `words`: the script, its name, its arguments. */
export async function runInside(
  { engine, image, sessionId, mounts, user }: InsideRequest,
  words: readonly string[],
  { maxBytes, timeoutMs, take }: InsideOptions,
): Promise<InsideResult> {
  const spec = taskSpec({
    sessionId,
    image,
    seccomp: await readSeccompProfile(),
    suffix: 'commits',
    user,
    argv: ['/bin/sh', '-c', ...words],
    env: { GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0' },
    mounts: mounts.map((mount) => (mount.kind === 'tmpfs' ? mount : { ...mount, readonly: true })),
    stdin: 'none',
  });
  await removeContainer(engine, spec.name);
  const container = await engine.create(spec);
  try {
    const chunks: Buffer[] = [];
    const keep = (chunk: Buffer): void => void chunks.push(chunk);
    let size = 0;
    let failure: unknown;
    container.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      try {
        if (size <= maxBytes && failure === undefined) return (take ?? keep)(chunk);
      } catch (error) {
        failure = error;
      }
      void container.kill('SIGKILL').catch(() => undefined);
    });
    let errorText = '';
    container.stderr.on('data', (chunk: Buffer) => {
      errorText = (errorText + chunk.toString('latin1')).slice(-300);
    });
    const ended = new Promise<void>((resolve) => {
      container.stdout.once('end', resolve).once('close', resolve);
    });
    const timer = setTimeout(() => void container.kill('SIGKILL').catch(() => undefined), timeoutMs);
    await container.start();
    const status = await container.wait().finally(() => clearTimeout(timer));
    await ended;
    if (failure !== undefined) throw failure;
    return { status, output: Buffer.concat(chunks), isCut: size > maxBytes, errorText };
  } finally {
    await container.remove();
  }
}

/** The error of a script that failed. */
export function unreadable(status: number, errorText: string): RunClaudeError {
  return new RunClaudeError('COMMITS_UNREADABLE', `git cannot read the session's repository (${status}): ${errorText}`);
}

/**
 * enter WORK GIT: goes to a repository, by its work tree where there is one. In bind mode only git directories are mounted.
 * known COMMIT...: those that the session's repository has, as exclusions. heads: what counts as the session's.
 */
export const FUNCTIONS = `enter() {
  cd "/workspace/$1" 2>/dev/null && [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$PWD" ] && return
  cd /workspace && [ -f "$2/HEAD" ] && export GIT_DIR="/workspace/$2" GIT_WORK_TREE=/workspace &&
    git rev-parse --git-dir >/dev/null 2>&1
}
known() {
  [ $# = 0 ] || printf '%s\\n' "$@" | git cat-file --batch-check | sed -n 's/^\\([0-9a-f]*\\) commit .*/^\\1/p'
}
heads() {
  echo --branches
  git rev-parse -q --verify HEAD >/dev/null 2>&1 && echo HEAD
}
`;
