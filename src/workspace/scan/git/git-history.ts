import { type GitArguments, runGit } from '../../../core/host/git.ts';

const TIMEOUT_MS = 3000;
const MAX_NAMED = 20;

export interface InHistory {
  /** Those of the paths that some commit of some ref has. */
  readonly found: readonly string[];
  /** The search took too long, or git failed: whether the other paths are in the history is not known. */
  readonly unsure: boolean;
}

/** Which of the paths that are kept out of a copy its git history would show all the same. */
export async function pathsInHistory(gitDir: string, project: string, paths: readonly string[]): Promise<InHistory> {
  const end = Date.now() + TIMEOUT_MS;
  const has = async (some: readonly string[]): Promise<boolean> => {
    const specs = some.map((one) => `:(top,literal)${one}`);
    const args: GitArguments = ['rev-list', '--all', '--max-count=1', '--', ...specs];
    const timeoutMs = Math.max(1, end - Date.now());
    return (await runGit(args, { gitDir, workTree: project, timeoutMs, readsCommitGraph: true })).length > 0;
  };
  const asked = paths.slice(0, MAX_NAMED);
  const found: string[] = [];
  try {
    if (asked.length === 0 || !(await has(paths.slice(0, 1000)))) return { found, unsure: paths.length > 1000 };
    for (const one of asked) if (await has([one])) found.push(one);
    return { found, unsure: paths.length > asked.length };
  } catch {
    // No git, a damaged repository, or too long a history: what was found counts, the rest is reported as unknown.
    return { found, unsure: true };
  }
}
