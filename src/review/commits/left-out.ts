import { hostGit, hostGitSucceeds } from './host-git.ts';
import type { ReceivedCommits } from './import-commits.ts';
import { differingPaths, type RawChange, readRawChanges } from './read-commits.ts';

/** A change of a commit at a path that the session's copy lacked. */
export interface LeftOutChange {
  readonly commit: string;
  readonly path: string;
}

/**
 * The user's files that a session never had. `lacks`: whether the copy lacked what the project has at a path; `isTree` says
 * that the path is a folder. `hidesLacking`: whether the project has a folder at a path, with something below it that the
 * copy lacked.
 */
export interface UserFiles {
  lacks(path: string): boolean;
  hidesLacking(path: string): boolean;
}

/** Comparisons of whole trees take long in a large repository: what is beyond this counts as changed. */
const MOST_COMPARISONS = 500;

/**
 * The changes of the received commits that delete, empty or write what the session's copy lacked. A session can make them
 * whatever the index in its copy says. Where a commit only has what the user's own commits have there (one of the user's that
 * was amended, or a merge that git makes by itself), nothing is changed.
 *
 * @throws {RunClaudeError} COMMITS_REFUSED.
 */
export function findLeftOutChanges(received: ReceivedCommits, files: UserFiles): LeftOutChange[] {
  const isFound = ({ path, newMode }: RawChange): boolean =>
    files.lacks(path) || (!LEAVES_FOLDERS.includes(newMode) && files.hidesLacking(path));
  const compare = new Comparisons(received);
  return [...readRawChanges(received)].flatMap(([commit, raw]) =>
    raw
      .filter((change) => isFound(change) && !compare.isOfUser(commit, change.path))
      .map(({ path }) => ({ commit, path })),
  );
}

/** Modes of a new side for which git leaves a folder as it is: nothing, and a submodule. */
const LEAVES_FOLDERS = ['000000', '160000'];

/** What commits have at a path, compared with the user's own. Each pair of commits is compared once. */
class Comparisons {
  readonly #received: ReceivedCommits;
  readonly #known = new Map<string, ReadonlySet<string> | undefined>();
  readonly #parents = new Map<string, readonly string[]>();
  readonly #tips = new Map<string, readonly string[]>();

  constructor(received: ReceivedCommits) {
    this.#received = received;
  }

  /** Whether a commit has at a path what the user's branches have, or what a merge of the user's commits gives. */
  isOfUser(commit: string, path: string): boolean {
    const tips = this.#tipsOf(commit);
    if (tips.length > 0 && tips.every((tip) => this.#isSame(tip, commit, path))) return true;
    const [first, ...others] = this.#parentsOf(commit);
    return others.some((other) => {
      if (first === undefined || !this.#isSame(other, commit, path)) return false;
      // Only the other side has changed it since the two parted.
      const base = this.#baseOf(first, other);
      return base !== undefined && this.#isSame(base, first, path);
    });
  }

  #isSame(one: string, other: string, path: string): boolean {
    const key = `${one} ${other}`;
    if (!this.#known.has(key)) {
      const isTooMany = this.#known.size >= MOST_COMPARISONS;
      this.#known.set(key, isTooMany ? undefined : differingPaths(this.#received.repository, one, other));
    }
    return this.#known.get(key)?.has(path) === false;
  }

  #parentsOf(commit: string): readonly string[] {
    const known = this.#parents.get(commit);
    if (known !== undefined) return known;
    const line = hostGit(this.#received.repository, ['rev-list', '--parents', '--max-count=1', commit]).toString();
    const parents = line.trim().split(' ').slice(1);
    this.#parents.set(commit, parents);
    return parents;
  }

  #baseOf(one: string, other: string): string | undefined {
    const { repository } = this.#received;
    if (!hostGitSucceeds(repository, ['merge-base', one, other])) return undefined;
    // Several of them: git would merge those first, and what it gives is not known here.
    const bases = hostGit(repository, ['merge-base', '--all', one, other]).toString().trim().split('\n');
    return bases.length === 1 ? bases[0] : undefined;
  }

  /** The user's own commit of each branch that has the commit: of the branch of that name, or HEAD. */
  #tipsOf(commit: string): readonly string[] {
    const known = this.#tips.get(commit);
    if (known !== undefined) return known;
    const { repository, project } = this.#received;
    const words = [`--contains=${commit}`, '--format=%(refname)', 'refs/heads'];
    const names = hostGit(repository, ['for-each-ref', ...words])
      .toString()
      .split('\n')
      .filter((name) => name !== '');
    const asked = names.flatMap((name) => [`${name}^{commit}\n`, 'HEAD^{commit}\n']).join('');
    const answers = hostGit(project, ['cat-file', '--batch-check=%(objectname) %(objecttype)'], Buffer.from(asked));
    const ids = answers
      .toString()
      .split('\n')
      .map((line) => /^([0-9a-f]+) commit$/.exec(line)?.[1]);
    const tips = names.flatMap((_, at) => ids[2 * at] ?? ids[2 * at + 1] ?? []);
    this.#tips.set(commit, [...new Set(tips)]);
    return this.#tips.get(commit) ?? [];
  }
}
