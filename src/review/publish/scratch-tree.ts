import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { RunClaudeError, usageError } from '../../core/errors.ts';
import { parseLfsPointer } from '../../core/git/lfs-pointer.ts';
import { isDotGitName } from '../../core/git/names.ts';
import { decodeBytes, encodeBytes, foldersAbove, liesBelow, parseRelPath } from '../../core/text/path.ts';
import { visible } from '../../core/text/visible.ts';
import type { ContentReader } from '../../core/types/entry.ts';
import type { ChosenChange } from '../../core/types/review.ts';
import { possibleMembers } from '../choices/file-sets.ts';
import { type GitObjects, openGitObjects, type TreeEntry } from '../commits/git-objects.ts';

/** The tree that a new commit is based on. */
export interface HeadTree {
  readonly commit: string;
  /** Every entry of the repository's tree, by its path from the top. */
  readonly entries: ReadonlyMap<string, TreeEntry>;
  /** Path of the project from the top with a slash at the end; '' where it is the top. */
  readonly prefix: string;
  readonly objects: GitObjects;
}

/**
 * The commit that HEAD names, with its tree. Reads objects only.
 *
 * @throws {RunClaudeError} USAGE where the project is not in a repository with a commit.
 */
export async function readHead(project: string, env: NodeJS.ProcessEnv): Promise<HeadTree> {
  const objects = openGitObjects(project, env);
  const top = await objects.topLevel().catch(() => {
    throw usageError('--branch needs a git repository', 'Apply to the files with: run-claude apply');
  });
  const commit = await objects.commit('HEAD');
  const folder = path.relative(top, project);
  if (folder.startsWith('..')) throw usageError('the project is not in the work tree of its repository');
  const entries = new Map((await objects.tree(commit)).map((entry) => [entry.path, entry]));
  return { commit, entries, prefix: folder === '' ? '' : `${folder}/`, objects };
}

/** Entries of a commit's tree as plain files in a directory of run-claude's: changes are applied to them there. */
export interface ScratchTree {
  readonly root: string;
  /** Entries that were written, by their path in the project. */
  readonly laid: ReadonlyMap<string, TreeEntry>;
}

/** What is in the directory after the changes were applied. */
export interface ScratchFile {
  readonly mode: '100644' | '100755' | '120000';
  readonly content: Buffer;
}

/** Paths of chosen changes at or below a submodule: its content belongs to another repository. */
export function inSubmodules({ entries, prefix }: HeadTree, chosen: readonly ChosenChange[]): ReadonlySet<string> {
  const links = new Set([...entries.values()].flatMap((one) => (one.type === 'commit' ? [one.path] : [])));
  const isIn = (full: string): boolean => links.has(full) || liesBelow(full, links);
  return new Set(chosen.map(({ change }) => change.path).filter((one) => isIn(prefix + one)));
}

/**
 * Writes what the tree has at, above and below the chosen paths, and the other files of the things that these belong to. Bytes are those of the objects: no filter runs. A pointer
 * of Git LFS is replaced by its content where the session's copy had that, which is in `store`.
 * A path that is executable on both sides alike gets the bits that it had in the session's base. Git has no folders
 * without files: those above a chosen path are there, unless HEAD has something else of that name.
 *
 * @throws {RunClaudeError} HEAD_UNREADABLE, before anything is written.
 */
export async function layOut(
  head: HeadTree,
  chosen: readonly ChosenChange[],
  root: string,
  store: ContentReader,
): Promise<ScratchTree> {
  const { entries, prefix, objects } = head;
  const before = new Map<string, ChosenChange>(chosen.map((one) => [one.change.path, one]));
  const paths = new Set(before.keys());
  const above = new Set([...paths].flatMap((one) => [...foldersAbove(one)]));
  const members = new Set(possibleMembers([...paths]));
  const laid = new Map<string, TreeEntry>();
  const all = new Set(entries.keys());
  for (const entry of entries.values()) {
    if (liesBelow(entry.path, all)) throw forged(entry.path);
    if (entry.type !== 'blob' || !entry.path.startsWith(prefix)) continue;
    const own = entry.path.slice(prefix.length);
    if (paths.has(own) || above.has(own) || members.has(own) || liesBelow(own, paths)) laid.set(own, entry);
  }
  const contents = await objects.read([...laid.values()].map(({ oid }) => oid));
  for (const [own, entry] of laid) {
    const isSafe = parseRelPath(own) !== undefined && !own.split('/').some(isDotGitName);
    if (!contents.has(entry.oid) || !isSafe) throw unreadable(own);
  }
  mkdirSync(root, { mode: 0o700 });
  for (const [own, entry] of laid) {
    const blob = contents.get(entry.oid) as Buffer;
    const digest = before.get(own)?.change.before?.digest;
    const isOfDigest = digest !== undefined && parseLfsPointer(blob)?.oid === digest;
    const content = isOfDigest ? await store.read(digest) : blob;
    const place = placeIn(root, own);
    mkdirSync(placeIn(root, path.posix.dirname(own)), { recursive: true, mode: 0o700 });
    if (entry.mode === '120000') symlinkSync(content, place);
    else {
      writeFileSync(place, content, { flag: 'wx' });
      const mode = before.get(own)?.change.before?.mode;
      const isExecutable = entry.mode === '100755';
      const isAlike = mode !== undefined && ((mode & 0o100) !== 0) === isExecutable;
      chmodSync(place, isAlike ? mode & 0o777 : isExecutable ? 0o755 : 0o644);
    }
  }
  const isOther = (folder: string): boolean => laid.has(folder) || paths.has(folder);
  for (const folder of above) {
    if (isOther(folder) || [...foldersAbove(folder)].some(isOther)) continue;
    mkdirSync(placeIn(root, folder), { recursive: true, mode: 0o700 });
  }
  return { root, laid };
}

function placeIn(root: string, own: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), encodeBytes(own)]);
}

/**
 * The files and links of the directory, by path. New content must be in the session's store, where it was frozen.
 *
 * @throws {RunClaudeError} CONTENT_DAMAGED.
 */
export async function readBack(
  { root, laid }: ScratchTree,
  head: HeadTree,
  store: ContentReader & { has(digest: string): Promise<boolean> },
): Promise<ReadonlyMap<string, ScratchFile>> {
  const found = new Map<string, ScratchFile>();
  const known = new Map(await head.objects.read([...laid.values()].map(({ oid }) => oid)));
  for (const [own, file] of filesIn(root, '')) {
    found.set(own, file);
    const old = known.get(laid.get(own)?.oid ?? '');
    if (file.mode === '120000' || old?.equals(file.content)) continue;
    const digest = createHash('sha256').update(file.content).digest('hex');
    if (!(await store.has(digest))) {
      throw new RunClaudeError('CONTENT_DAMAGED', `${visible(own)} has other content than the session's record`);
    }
  }
  return found;
}

function* filesIn(root: string, below: string): Generator<[string, ScratchFile]> {
  const folder = placeIn(root, below);
  for (const name of readdirSync(folder, { encoding: 'buffer' })) {
    const own = below === '' ? decodeBytes(name) : `${below}/${decodeBytes(name)}`;
    const place = placeIn(root, own);
    const stat = lstatSync(place);
    if (stat.isDirectory()) yield* filesIn(root, own);
    else if (stat.isSymbolicLink())
      yield [own, { mode: '120000', content: readlinkSync(place, { encoding: 'buffer' }) }];
    else yield [own, { mode: (stat.mode & 0o100) !== 0 ? '100755' : '100644', content: readFileSync(place) }];
  }
}

function unreadable(own: string): RunClaudeError {
  return new RunClaudeError('HEAD_UNREADABLE', `${visible(own)} of HEAD cannot be read from the repository`, {
    hint: 'A shallow or partial clone may lack it: fetch it first.',
  });
}

function forged(full: string): RunClaudeError {
  return new RunClaudeError('HEAD_UNREADABLE', `${visible(full)} of HEAD is below an entry that is not a folder`, {
    hint: 'No work tree can have that. See what else is wrong with: git fsck',
  });
}
