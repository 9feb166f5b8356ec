import { createHash } from 'node:crypto';
import type { TreeReader } from '../../core/types/collector.ts';
import type { BoundGit } from '../../core/types/session.ts';
import { scanProject } from './scan-project.ts';

/** The name of the session's repository among the collector's roots. */
export const GIT_ROOT = 'git';

/** Files that change when a commit is made on a branch or a detached HEAD, here or in a submodule. */
const REFS = /^(modules\/.+\/)?(HEAD|packed-refs|logs\/HEAD|refs\/heads\/.*|reftable\/.*)$/;

interface RefFile {
  readonly path: string;
  readonly kind: string;
  readonly size: number;
  readonly mtimeNs: string;
}

/**
 * A fingerprint of a repository's refs, from the metadata of their files: SHA-256 in hex digits. Precondition: no agent
 * has written there yet.
 */
export function fingerprintRefs(repository: string): string {
  const { entries } = scanProject(repository, (name) => name === 'objects');
  return fingerprint([...entries].map(([path, seen]) => ({ ...seen, path })));
}

/**
 * Whether a bind session made commits: its repository has objects of its own, and other refs than at the start. An agent
 * can forge this. It decides only what is shown and how long the repository is kept; git reads the commits themselves.
 */
export async function hasCommits(reader: TreeReader, bound: BoundGit): Promise<boolean> {
  const found: RefFile[] = [];
  let objects = 0;
  for await (const entry of reader.list(GIT_ROOT)) {
    if (entry.problem !== undefined) return true;
    if (entry.kind === 'file' && /^(modules\/.+\/)?objects\/(?!info\/)/.test(entry.path)) objects += 1;
    if (REFS.test(entry.path)) found.push(entry);
  }
  return objects > 0 && fingerprint(found) !== bound.refs;
}

function fingerprint(found: readonly RefFile[]): string {
  const lines = found
    .filter(({ path, kind }) => kind !== 'dir' && REFS.test(path))
    .map(({ path, size, mtimeNs }) => `${path} ${size} ${mtimeNs}`)
    .sort();
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}
