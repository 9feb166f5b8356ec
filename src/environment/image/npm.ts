import { RunClaudeError } from '../../core/errors.ts';
import { missingProgramHint, outputOfProgram } from '../../core/host/programs/start-program.ts';

export interface NpmRun {
  /** Not a project's directory: npm reads the .npmrc of one. */
  readonly cwd: string;
  /** Completes 'npm could not ...'. */
  readonly doing: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/**
 * Runs the user's npm, with its registry, proxy and certificates. Returns what it prints.
 *
 * @throws {RunClaudeError} PACKAGE_FETCH_FAILED, with the error of the process as its cause; the signal's reason.
 */
export async function runNpm(argv: readonly string[], { cwd, doing, signal, timeoutMs }: NpmRun): Promise<string> {
  const limits = { signal, timeout: timeoutMs, maxBuffer: 16 * 1024 * 1024 };
  try {
    return (await outputOfProgram('npm', [...argv], { cwd, ...limits })).stdout;
  } catch (error) {
    signal?.throwIfAborted();
    const failure = error as NodeJS.ErrnoException & { stderr?: string };
    if (failure.code === 'ENOENT') {
      throw new RunClaudeError('PACKAGE_FETCH_FAILED', `npm is needed to ${doing} and was not found`, {
        cause: error,
        hint: missingProgramHint('npm'),
      });
    }
    const reason = failure.stderr?.trim().split('\n').slice(0, 3).join('; ') ?? '';
    throw new RunClaudeError('PACKAGE_FETCH_FAILED', `npm could not ${doing}: ${reason}`, {
      cause: error,
      hint: 'Check that npm reaches its registry: npm ping.',
    });
  }
}
