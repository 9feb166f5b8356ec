import { rmSync } from 'node:fs';
import { type LfsPointer, MAX_POINTER_BYTES, parseLfsPointer } from '../../../core/git/lfs-pointer.ts';
import { decodeBytes, encodeBytes } from '../../../core/text/path.ts';
import { hostGit, hostTips } from '../host-git.ts';
import type { ReceivedCommits } from '../import-commits.ts';

const lines = (list: Iterable<string>): Buffer => Buffer.from([...list].map((one) => `${one}\n`).join(''));

/**
 * The LFS pointers among the blobs of received commits that the user's repository lacks, by object id of git. The object of a
 * pointer that it has may be on the user's server alone. Throws COMMITS_REFUSED.
 */
export function newPointers({ repository, branches, project }: ReceivedCommits): ReadonlyMap<string, LfsPointer> {
  const ends = [...branches.map(({ commit }) => commit), ...hostTips(project).map((id) => `^${id}`)];
  const listed = hostGit(repository, ['rev-list', '--objects', '--no-object-names', '--stdin'], lines(ends));
  const sizes = hostGit(repository, ['cat-file', '--batch-check'], listed).toString().split('\n');
  const small = sizes.flatMap((line) => {
    const [, id, size] = /^([0-9a-f]+) blob ([0-9]+)$/.exec(line) ?? [];
    return id !== undefined && Number(size) <= MAX_POINTER_BYTES ? [{ id, size: Number(size) }] : [];
  });
  const pointers = new Map<string, LfsPointer>();
  for (let next = 0; next < small.length; next += AT_ONCE) {
    const batch = small.slice(next, next + AT_ONCE);
    const output = hostGit(repository, ['cat-file', '--batch'], lines(batch.map(({ id }) => id)));
    let at = 0;
    for (const { id, size } of batch) {
      at = output.indexOf(10, at) + 1;
      const pointer = parseLfsPointer(output.subarray(at, at + size));
      if (pointer !== undefined) pointers.set(id, pointer);
      at += size + 1;
    }
  }
  if (pointers.size === 0) return pointers;
  for (const line of hostGit(project, ['cat-file', '--batch-check'], lines(pointers.keys())).toString().split('\n')) {
    const [, known] = /^([0-9a-f]+) blob /.exec(line) ?? [];
    if (known !== undefined) pointers.delete(known);
  }
  return pointers;
}

const AT_ONCE = 10_000;

/** Attributes files that differ from those of a commit: the blob of each, undefined for one that is deleted. */
export type ChangedAttributes = ReadonlyMap<string, string | undefined>;

/**
 * Which of these paths the attributes of a commit give to Git LFS (`filter=lfs`), of a repository of run-claude's or at the top
 * of the user's. git reads the attributes from a new index, `indexFile`, that is made of the commit: no file of a work tree is
 * involved. Throws COMMITS_REFUSED.
 */
export function lfsPaths(
  repository: string,
  commit: string,
  paths: readonly string[],
  { indexFile, changed = new Map() }: { readonly indexFile: string; readonly changed?: ChangedAttributes },
): ReadonlySet<string> {
  if (paths.length === 0) return new Set();
  const end = Buffer.of(0);
  try {
    hostGit(repository, ['read-tree', commit], undefined, { indexFile });
    const rows = [...changed].flatMap(([name, oid]) => [
      Buffer.from(`${oid === undefined ? '0' : '100644'} ${oid ?? '0'.repeat(commit.length)}\t`),
      encodeBytes(name),
      end,
    ]);
    if (rows.length > 0)
      hostGit(repository, ['update-index', '-z', '--index-info'], Buffer.concat(rows), { indexFile });
    const input = Buffer.concat(paths.flatMap((one) => [encodeBytes(one), end]));
    const output = hostGit(repository, ['check-attr', '--cached', '-z', '--stdin', 'filter'], input, { indexFile });
    const fields = decodeBytes(output).split('\0');
    const found = new Set<string>();
    for (let at = 0; at + 2 < fields.length; at += 3) if (fields[at + 2] === 'lfs') found.add(fields[at] as string);
    return found;
  } finally {
    rmSync(indexFile, { force: true });
  }
}
