import type { Finding } from '../../core/types/finding.ts';
import { hostGit } from './host-git.ts';
import type { ReceivedCommits } from './import-commits.ts';
import type { Gitlink } from './read-commits.ts';
import type { Repository } from './repositories.ts';

/** The repositories that a commit of a superproject may name commits of. */
export interface GitlinkTargets {
  /** The user's. */
  readonly repositories: readonly Repository[];
  /** What is imported along. */
  readonly made: readonly { readonly repository: Repository; readonly received: ReceivedCommits }[];
  /** Path of the repository whose commits are audited. */
  readonly within: string;
  /** What was imported of this session before is audited too. */
  readonly sessionId: string;
}

const SHORT = 10;

/**
 * What commits of other repositories in a tree mean for an import: blocked where neither the user nor this import has them,
 * suspect where the user has them, and nothing where they are imported along or were imported of this session before, and so
 * audited themselves. Two git processes for each repository, however many links there are. Throws COMMITS_REFUSED where git cannot read one.
 */
export function judgeGitlinks(links: readonly Gitlink[], targets: GitlinkTargets): readonly Finding[] {
  const { made, repositories, within, sessionId } = targets;
  const byPath = new Map(repositories.map((one) => [one.path, one]));
  const imported = new Map(made.map(({ repository, received }) => [repository.path, new Set(received.commits)]));
  const wanted = new Map<Repository, Set<string>>();
  const placesOf = ({ path }: Gitlink): readonly Repository[] => {
    const at = byPath.get(within === '' ? path : `${within}/${path}`);
    // A submodule that was moved, or is new, has no repository at its path.
    return at === undefined ? repositories : [at];
  };
  for (const link of links) {
    for (const place of placesOf(link)) {
      const ids = wanted.get(place) ?? new Set();
      wanted.set(place, ids.add(link.commit));
    }
  }
  const here = new Map([...wanted].map(([place, ids]) => [place, commitsIn(place, ids)]));
  const earlier = new Map([...wanted.keys()].map((place) => [place, importedTips(place, sessionId)]));
  return links.flatMap((link) => {
    const places = placesOf(link);
    if (places.some(({ path }) => imported.get(path)?.has(link.commit))) return [];
    if (places.some((place) => earlier.get(place)?.has(link.commit))) return [];
    const isHere = places.some((place) => here.get(place)?.has(link.commit));
    return [isHere ? known(link) : unknown(link, byPath.has(within === '' ? link.path : `${within}/${link.path}`))];
  });
}

function commitsIn({ place }: Repository, ids: ReadonlySet<string>): ReadonlySet<string> {
  const input = Buffer.from([...ids].map((id) => `${id}\n`).join(''));
  const lines = hostGit(place, ['cat-file', '--batch-check'], input).toString().split('\n');
  return new Set(lines.flatMap((line) => /^([0-9a-f]{40,64}) commit /.exec(line)?.[1] ?? []));
}

/** The commits to which the imported branches of a session lead. */
function importedTips({ place }: Repository, sessionId: string): ReadonlySet<string> {
  const listed = hostGit(place, ['for-each-ref', '--format=%(objectname)', `refs/run-claude/${sessionId}/`]);
  return new Set(listed.toString().split('\n'));
}

function known({ path, commit }: Gitlink): Finding {
  return {
    rule: 'commit-submodule',
    severity: 'suspect',
    path,
    title: 'Commit of another repository',
    why: 'A submodule update checks it out here.',
    detail: commit.slice(0, SHORT),
  };
}

function unknown({ path, commit }: Gitlink, hasRepository: boolean): Finding {
  const short = commit.slice(0, SHORT);
  return {
    rule: 'commit-submodule',
    severity: 'blocked',
    path,
    title: 'Commit that no repository here has',
    why: hasRepository
      ? `It is on no branch here or in the session: fetch it there, or put it on a branch in the session (run-claude resume; git branch keep ${short}). If you gave --only, leave it out: the commits of both repositories are then imported.`
      : 'There is no repository at that path here: git submodule update --init makes one. Then import again.',
    detail: short,
  };
}
