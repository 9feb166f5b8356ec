import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type LfsPointer, MAX_POINTER_BYTES, parseLfsPointer } from '../../../core/git/lfs-pointer.ts';
import type { Change, Digest } from '../../../core/types/entry.ts';
import type { Finding } from '../../../core/types/finding.ts';
import { hostGit } from '../host-git.ts';
import type { ReceivedCommits } from '../import-commits.ts';
import { type CommitChanges, MOST_READ, MOST_TOGETHER } from '../read-commits.ts';
import type { LfsObjects } from './objects.ts';
import { lfsPaths } from './pointers.ts';

/**
 * The contents with those of Git LFS objects in place of their pointers: what a checkout puts into the work tree is audited.
 * An object that is too large stays a pointer here; judgePointers reports it.
 */
export function withLfsContents(
  contents: ReadonlyMap<Digest, Buffer>,
  { file }: LfsObjects,
): ReadonlyMap<Digest, Buffer> {
  let total = 0;
  const filled = new Map(contents);
  for (const [id, content] of contents) {
    const pointer = parseLfsPointer(content);
    const found = pointer === undefined || pointer.size > MOST_READ ? undefined : file(pointer);
    if (pointer === undefined || found === undefined) continue;
    total += pointer.size;
    if (total > MOST_TOGETHER) {
      filled.delete(id);
      continue;
    }
    filled.set(id, readFileSync(found));
  }
  return filled;
}

/** What is wrong with the pointers of a commit: objects that nobody has, or that are too large to be audited. */
export function judgePointers(changes: readonly Change[], { pointers, file }: LfsObjects): Finding[] {
  return changes.flatMap(({ path, after }): Finding[] => {
    const id = after?.digest;
    const pointer = id === undefined ? undefined : pointers.get(id);
    if (id === undefined || pointer === undefined) return [];
    const detail = sizeText(pointer);
    if (file(pointer) === undefined) {
      const why = 'Neither you nor the session has the content: a checkout leaves the pointer, and git push fails.';
      return [{ rule: 'commit-lfs', severity: 'suspect', path, title: 'Git LFS object is missing', why, detail }];
    }
    if (pointer.size <= MOST_READ) return [];
    const why = 'A checkout writes content that the audit did not read.';
    return [
      {
        rule: 'commit-lfs',
        severity: 'suspect',
        path,
        title: 'Git LFS object is too large to be audited',
        why,
        detail,
      },
    ];
  });
}

const sizeText = ({ oid, size }: LfsPointer): string => `${oid.slice(0, 10)}, ${size} bytes`;

/**
 * Files of the received commits that the attributes of a branch give to Git LFS, and whose content is in the commit itself,
 * by commit. Files that are that way in the user's history are not among them. Throws COMMITS_REFUSED.
 */
export function rawLfsFiles(
  { repository, branches }: ReceivedCommits,
  commits: readonly CommitChanges[],
): ReadonlyMap<string, readonly Finding[]> {
  const files = commits.flatMap(({ commit, changes }) =>
    changes.flatMap((change) => (change.after?.kind === 'file' ? [{ commit, change }] : [])),
  );
  const paths = [...new Set(files.map(({ change }) => change.path))];
  const isLfs = new Set<string>();
  const indexFile = path.join(repository, 'attributes-index');
  for (const { commit } of branches)
    for (const one of lfsPaths(repository, commit, paths, { indexFile })) isLfs.add(one);
  const suspects = files.filter(({ change }) => isLfs.has(change.path));
  const raw = rawContents(
    repository,
    new Set(suspects.flatMap(({ change }) => [change.before?.digest, change.after?.digest])),
  );
  const found = new Map<string, Finding[]>();
  for (const { commit, change } of suspects) {
    const { before, after } = change;
    if (after?.digest === undefined || !raw.has(after.digest)) continue;
    if (before?.kind === 'file' && before.digest !== undefined && raw.has(before.digest)) continue;
    const finding: Finding = {
      rule: 'commit-lfs',
      severity: 'suspect',
      path: change.path,
      title: 'LFS path with raw content',
      why: '.gitattributes gives the file to Git LFS, and the commit has its content instead of a pointer: every clone downloads it.',
    };
    const others = found.get(commit);
    if (others === undefined) found.set(commit, [finding]);
    else others.push(finding);
  }
  return found;
}

/** Which of these blobs are neither pointers nor empty. git-lfs leaves an empty file as it is. */
function rawContents(repository: string, ids: ReadonlySet<string | undefined>): ReadonlySet<string> {
  const list = [...ids].filter((id) => id !== undefined);
  const lines = (some: readonly string[]): Buffer => Buffer.from(some.map((id) => `${id}\n`).join(''));
  const sizes = hostGit(repository, ['cat-file', '--batch-check'], lines(list)).toString().split('\n');
  const known = sizes.flatMap((line) => {
    const [, id, size] = /^([0-9a-f]+) blob ([0-9]+)$/.exec(line) ?? [];
    return id === undefined || size === '0' ? [] : [{ id, size: Number(size) }];
  });
  const raw = new Set(known.map(({ id }) => id));
  const small = known.filter(({ size }) => size <= MAX_POINTER_BYTES);
  const output = hostGit(repository, ['cat-file', '--batch'], lines(small.map(({ id }) => id)));
  let at = 0;
  for (const { id, size } of small) {
    at = output.indexOf(10, at) + 1;
    if (parseLfsPointer(output.subarray(at, at + size)) !== undefined) raw.delete(id);
    at += size + 1;
  }
  return raw;
}
