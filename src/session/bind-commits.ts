import { createHash } from 'node:crypto';
import path from 'node:path';
import type { TreeReader } from '../types/collector.ts';
import type { BoundGit } from '../types/session.ts';
import { walkProject } from './bind-walk.ts';

/** The name of the session's repository among the collector's roots. */
export const GIT_ROOT = 'git';

/** What moves when a commit is made on a branch or a detached HEAD. */
const REFS = /^(HEAD|packed-refs|logs\/HEAD|refs\/heads\/.*|reftable\/.*)$/;

interface RefFile {
  readonly path: string;
  readonly size: number;
  readonly mtimeNs: string;
}

/** What a repository's refs look like from outside, in a line. Precondition: nobody hostile has written there yet. */
export function refsPrint(repository: string): string {
  const { entries } = walkProject(repository, (name) => name === 'objects');
  return print([...entries].map(([name, { size, mtimeNs, kind }]) => ({ path: name, size, mtimeNs, kind })));
}

/**
 * Whether a bind session left commits: its repository has objects of its own and other refs than at the start. Only
 * for what people are told and how long the repository stays; git reads it when they are asked for.
 */
export async function leftCommits(reader: TreeReader, bound: BoundGit): Promise<boolean> {
  const refs: (RefFile & { readonly kind: string })[] = [];
  let objects = 0;
  for await (const { path: name, kind, size, mtimeNs, problem } of reader.list(GIT_ROOT)) {
    if (problem !== undefined) return true;
    if (kind === 'file' && /^objects\/(?!info\/)/.test(name)) objects += 1;
    refs.push({ path: name, kind, size, mtimeNs });
  }
  return objects > 0 && print(refs) !== bound.refs;
}

function print(files: readonly (RefFile & { readonly kind: string })[]): string {
  const lines = files
    .filter(({ path: name, kind }) => kind !== 'dir' && REFS.test(name))
    .map(({ path: name, size, mtimeNs }) => `${path.posix.normalize(name)} ${size} ${mtimeNs}`)
    .sort();
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}
