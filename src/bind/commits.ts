import { createHash } from 'node:crypto';
import type { TreeReader } from '../types/collector.ts';
import type { BoundGit } from '../types/session.ts';
import { walkProject } from './walk.ts';

/** The name of the session's repository among the collector's roots. */
export const GIT_ROOT = 'git';

/** What moves when a commit is made on a branch or a detached HEAD. */
const REFS = /^(HEAD|packed-refs|logs\/HEAD|refs\/heads\/.*|reftable\/.*)$/;

interface Found {
  readonly path: string;
  readonly kind: string;
  readonly size: number;
  readonly mtimeNs: string;
}

/** What a repository's refs look like from outside, in a line. Precondition: nobody hostile has written there yet. */
export function refsPrint(repository: string): string {
  const { entries } = walkProject(repository, (name) => name === 'objects');
  return printOf([...entries].map(([path, seen]) => ({ ...seen, path })));
}

/**
 * Whether a bind session left commits: its repository has objects of its own and other refs than at the start. Only
 * for what people are told and how long the repository stays; git reads it when they are asked for.
 */
export async function leftCommits(reader: TreeReader, bound: BoundGit): Promise<boolean> {
  const found: Found[] = [];
  let objects = 0;
  for await (const entry of reader.list(GIT_ROOT)) {
    if (entry.problem !== undefined) return true;
    if (entry.kind === 'file' && /^objects\/(?!info\/)/.test(entry.path)) objects += 1;
    if (REFS.test(entry.path)) found.push(entry);
  }
  return objects > 0 && printOf(found) !== bound.refs;
}

function printOf(found: readonly Found[]): string {
  const lines = found
    .filter(({ path, kind }) => kind !== 'dir' && REFS.test(path))
    .map(({ path, size, mtimeNs }) => `${path} ${size} ${mtimeNs}`)
    .sort();
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}
