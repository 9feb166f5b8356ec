import { hostGit } from './host-git.ts';
import type { Repository } from './repositories.ts';

/** Refs of a session that no import takes, although the user's repository does not have them. */
export interface LeftRefs {
  readonly repository: Repository;
  /** 'tag v1', 'notes commits', 'the stash': not cleaned for the terminal. */
  readonly names: readonly string[];
}

/**
 * Which of these refs (`OID NAME`, as the session lists them) the user's repository does not have, in words. Throws
 * COMMITS_REFUSED where git cannot read it.
 */
export function leftRefs(repository: Repository, others: readonly string[]): LeftRefs[] {
  if (others.length === 0) return [];
  const listed = hostGit(repository.place, [
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    ...['refs/tags', 'refs/notes', 'refs/stash', 'refs/replace'],
  ]);
  const known = new Set(listed.toString().split('\n'));
  const names = others.filter((one) => !known.has(one)).map((one) => nameOf(one.slice(one.indexOf(' ') + 1)));
  return names.length === 0 ? [] : [{ repository, names }];
}

function nameOf(ref: string): string {
  if (ref === 'refs/stash') return 'the stash';
  const [, kind, name = ref] = /^refs\/(tags|notes|replace)\/(.*)$/s.exec(ref) ?? [];
  return kind === 'tags' ? `tag ${name}` : kind === 'replace' ? `replacement of ${name.slice(0, 10)}` : `notes ${name}`;
}
