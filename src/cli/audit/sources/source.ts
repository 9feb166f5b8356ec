import { usageError } from '../../../core/errors.ts';
import type { Policy } from '../../../core/types/policy.ts';
import type { Review } from '../../../core/types/review.ts';
import type { Tree } from '../../../review/commits/audit/audit-commit-range.ts';
import type { GitObjects } from '../../../review/commits/git-objects.ts';
import type { JudgeRequest } from '../../../review/judging/change-judge.ts';

/** The files of a project that have a say in its audit, as texts. */
export interface ProjectFiles {
  readonly config: string | undefined;
  readonly ignore: string | undefined;
}

/** What every audit without a session gets. */
export interface SourceRequest extends Pick<JudgeRequest, 'signal' | 'tell'> {
  /** A folder of the repository. */
  readonly folder: string;
  /** The policy with the project's files as the base has them: what is audited never has a say in its own audit. */
  readonly policyWith: (files: ProjectFiles) => Promise<Policy>;
  /** Of the user whose settings decide whether git may read the repository. */
  readonly env: NodeJS.ProcessEnv;
}

/** One set of changes that was audited. */
export interface AuditedSource {
  /** What was audited, in words for a heading. Not cleaned for the terminal. */
  readonly label: string;
  readonly review: Review;
  /** The one that it was audited with. */
  readonly policy: Policy;
  /** Full id of the commit that it was compared with; undefined: with nothing. */
  readonly base: string | undefined;
  /** Full id of the newest commit, where the changes are commits. */
  readonly head?: string;
}

const MAX_FILE_BYTES = 1_048_576;

/** The project's files in a tree. Throws usageError for one that is not a small file. */
export async function projectFilesOf(git: GitObjects, tree: Tree): Promise<ProjectFiles> {
  const [config, ignore] = await Promise.all(
    ['.run-claude.toml', '.run-claudeignore'].map(async (name) => {
      const entry = tree.get(name);
      if (entry === undefined) return undefined;
      if (entry.type !== 'blob' || entry.mode === '120000') throw usageError(`${name} of the base is not a file`);
      if (entry.size > MAX_FILE_BYTES) throw usageError(`${name} of the base is larger than 1 MB`);
      const bytes = (await git.read([entry.oid])).get(entry.oid);
      if (bytes === undefined) throw usageError(`${name} of the base cannot be read`, 'Fetch the whole repository.');
      return bytes.toString();
    }),
  );
  return { config, ignore };
}

/** The beginning of an id, as messages show it. */
export function shortId(id: string): string {
  return id.slice(0, 12);
}
