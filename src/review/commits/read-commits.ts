import type { GitArguments } from '../../core/host/git.ts';
import { decodeBytes, parseRelPath, type RelPath } from '../../core/text/path.ts';
import type { Change, Digest, Entry } from '../../core/types/entry.ts';
import { kindOfChange } from './audit/change-kind.ts';
import { hostGit, refusedCommits } from './host-git.ts';
import type { ReceivedCommits } from './import-commits.ts';

/** One commit as the session wrote it: nothing in it is verified, and nothing is cleaned for the terminal. */
export interface CommitFacts {
  readonly id: string;
  readonly parents: readonly string[];
  readonly author: string;
  readonly committer: string;
  /** ISO 8601, of the author. */
  readonly date: string;
  readonly subject: string;
}

/** What one commit changes next to its first parent, as the audit reads changes. */
export interface CommitChanges {
  readonly commit: string;
  readonly changes: readonly Change[];
  readonly gitlinks: readonly Gitlink[];
}

/** A commit of another repository (a submodule) in a tree. */
export interface Gitlink {
  readonly path: RelPath;
  readonly commit: string;
}

const MOST_CHANGES = 200_000;
/** Blobs above this are not read; the audit blocks what it cannot read. In bytes. */
export const MOST_READ: number = 64 * 1024 * 1024;
/** Limit of all of them together. */
export const MOST_TOGETHER: number = 512 * 1024 * 1024;

/** Names, dates and first lines of the received commits, in their order. Throws COMMITS_REFUSED. */
export function readCommits({ repository, commits }: ReceivedCommits): CommitFacts[] {
  if (commits.length === 0) return [];
  const format = '%H%x00%P%x00%an <%ae>%x00%cn <%ce>%x00%aI%x00%s';
  const words: GitArguments = [
    'log',
    '--no-walk=unsorted',
    '--stdin',
    '-z',
    '--no-show-signature',
    '--no-color',
    '--no-mailmap',
    `--format=${format}`,
  ];
  const out = decodeBytes(hostGit(repository, words, Buffer.from(commits.map((id) => `${id}\n`).join(''))));
  const fields = out.split('\0');
  const facts: CommitFacts[] = [];
  for (let at = 0; at + 5 < fields.length; at += 6) {
    const [id = '', parents = '', author = '', committer = '', date = '', subject = ''] = fields.slice(at, at + 6);
    facts.push({ id, parents: parents.split(' ').filter(Boolean), author, committer, date, subject });
  }
  if (facts.length !== commits.length) throw refusedCommits('one of them cannot be read');
  return facts;
}

/** The whole message of each received commit, by its id, not cleaned for the terminal. Throws COMMITS_REFUSED. */
export function readMessages({ repository, commits }: ReceivedCommits): ReadonlyMap<string, string> {
  if (commits.length === 0) return new Map();
  const words: GitArguments = ['log', '--no-walk=unsorted', '--stdin', '-z', '--no-show-signature', '--no-color'];
  const input = Buffer.from(commits.map((id) => `${id}\n`).join(''));
  const fields = decodeBytes(hostGit(repository, [...words, '--format=%H%x00%B'], input)).split('\0');
  const messages = new Map<string, string>();
  for (let at = 0; at + 1 < fields.length; at += 2) messages.set((fields[at] ?? '').trim(), fields[at + 1] ?? '');
  if (messages.size !== commits.length) throw refusedCommits('the message of one of them cannot be read');
  return messages;
}

/**
 * The changes of each received commit, so that nothing hides in one that a later commit reverts. Plumbing commands on
 * the temporary repository, without attributes, drivers or renames. Throws COMMITS_REFUSED.
 */
export function readCommitChanges({ repository, commits }: ReceivedCommits): CommitChanges[] {
  return [...readRawChanges({ repository, commits })].map(changesOf);
}

/** What a branch as a whole would bring next to the commit that the user has. */
export interface BranchChanges extends CommitChanges {
  /** The commit that it is compared with; undefined where the user's repository has none. */
  readonly base: string | undefined;
}

/**
 * What each branch as a whole would bring: its commits alone do not show what it is built on where the user's branch does
 * not have that, what merges bring (a merge is shown next to its first parent, which may be any), and what one commit makes
 * of a file of another one. Named by its newest commit. Throws COMMITS_REFUSED.
 */
export function readBranchChanges({ repository, branches }: ReceivedCommits): BranchChanges[] {
  return branches.flatMap(({ commit, base }) => {
    if (commit === base) return [];
    const from = base ?? hostGit(repository, ['mktree']).toString().trim();
    return parseRaw(hostGit(repository, [...RAW_DIFF, from, commit, '--']), [commit]).map((one) => ({ ...one, base }));
  });
}

const RAW_DIFF: GitArguments = ['diff-tree', '-r', '-z', '--no-renames', '--raw', '--no-abbrev'];

/** Of one commit, or of several, each after its id. */
function parseRaw(bytes: Buffer, commits: readonly string[]): CommitChanges[] {
  return [...parseRawChanges(bytes, commits)].map(changesOf);
}

function changesOf([commit, raw]: readonly [string, readonly RawChange[]]): CommitChanges {
  const links = raw.filter(({ newMode }) => newMode === GITLINK);
  const gitlinks = links.map(({ path, newId }) => ({ path: requirePath(path), commit: newId }));
  return { commit, gitlinks, changes: raw.flatMap(changeOf) };
}

/**
 * What each of the commits changes, as git tells it: submodules included, and nothing left out. Throws COMMITS_REFUSED.
 */
export function readRawChanges({
  repository,
  commits,
}: Pick<ReceivedCommits, 'repository' | 'commits'>): ReadonlyMap<string, readonly RawChange[]> {
  if (commits.length === 0) return new Map();
  const words: GitArguments = [...RAW_DIFF, '--stdin', '--root', '--diff-merges=first-parent'];
  const bytes = hostGit(repository, words, Buffer.from(commits.map((id) => `${id}\n`).join('')));
  return parseRawChanges(bytes, commits);
}

/** The paths at which two commits, or trees, differ. Throws COMMITS_REFUSED. */
export function differingPaths(repository: string, from: string, to: string): ReadonlySet<string> {
  const bytes = hostGit(repository, [...RAW_DIFF, from, to, '--']);
  return new Set([...parseRawChanges(bytes, [to]).values()].flat().map(({ path }) => path));
}

function parseRawChanges(bytes: Buffer, commits: readonly string[]): Map<string, RawChange[]> {
  const found = new Map<string, RawChange[]>(commits.map((id) => [id, []]));
  let current = commits.length === 1 ? found.get(commits[0] as string) : undefined;
  const fields = decodeBytes(bytes).split('\0');
  let count = 0;
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at] as string;
    const raw = /^:([0-7]{6}) ([0-7]{6}) ([0-9a-f]+) ([0-9a-f]+) [A-Z]$/.exec(field);
    if (raw === null) {
      if (field !== '') current = found.get(field.trim());
      continue;
    }
    const path = fields[++at] ?? '';
    const [, oldMode = '', newMode = '', oldId = '', newId = ''] = raw;
    if (current === undefined || ++count > MOST_CHANGES) throw refusedCommits('their changes cannot be listed');
    current.push({ path, oldMode, newMode, oldId, newId });
  }
  return found;
}

/** One path of a commit next to its first parent, with git's modes and object ids: zeros for what is not there. */
export interface RawChange {
  readonly path: string;
  readonly oldMode: string;
  readonly newMode: string;
  readonly oldId: string;
  readonly newId: string;
}

const GITLINK = '160000';

/** Digests are git's object ids here. */
function changeOf({ path, oldMode, newMode, oldId, newId }: RawChange): Change[] {
  const known = requirePath(path);
  const [before, after] = [entryOfBlob(oldMode, oldId), entryOfBlob(newMode, newId)];
  if (before === undefined && after === undefined) return [];
  const kind = kindOfChange(before, after, oldId === newId);
  return [{ path: known, kind, ...(before && { before }), ...(after && { after }) }];
}

function requirePath(path: string): RelPath {
  const known = parseRelPath(path);
  if (known === undefined) throw refusedCommits('one of them names a path that cannot be');
  return known;
}

function entryOfBlob(mode: string, id: string): Entry | undefined {
  if (mode === '000000' || mode === GITLINK) return undefined;
  const kind = mode === '120000' ? 'symlink' : 'file';
  return { kind, mode: mode === '100755' ? 0o755 : 0o644, size: 0, mtimeNs: '0', digest: id };
}

/** Content of the blobs that these changes name, by object id; those that are too large are left out. */
export function readBlobs(repository: string, changes: readonly Change[]): ReadonlyMap<Digest, Buffer> {
  const ids = new Set(
    changes.flatMap(({ before, after }) => [before?.digest, after?.digest]).filter((id) => id !== undefined),
  );
  const lines = (list: Iterable<string>): Buffer => Buffer.from([...list].map((id) => `${id}\n`).join(''));
  const sizes = hostGit(repository, ['cat-file', '--batch-check'], lines(ids)).toString().split('\n');
  const small = sizes.flatMap((line) => {
    const [, id, size] = /^([0-9a-f]+) blob ([0-9]+)$/.exec(line) ?? [];
    return id !== undefined && Number(size) <= MOST_READ ? [{ id, size: Number(size) }] : [];
  });
  const contents = new Map<Digest, Buffer>();
  let total = 0;
  while (small.length > 0 && total <= MOST_TOGETHER) {
    // As many as fit into one answer.
    let bytes = 0;
    const over = small.findIndex(({ size }) => {
      bytes += size;
      return bytes > MOST_READ;
    });
    const batch = small.splice(0, over < 0 ? small.length : Math.max(1, over));
    const out = hostGit(repository, ['cat-file', '--batch'], lines(batch.map(({ id }) => id)));
    let at = 0;
    for (const { id, size } of batch) {
      at = out.indexOf(10, at) + 1;
      contents.set(id, out.subarray(at, at + size));
      at += size + 1;
      total += size;
    }
  }
  return contents;
}

/** The change with what its links name: the content of a link's blob. */
export function withTargets(change: Change, contents: ReadonlyMap<Digest, Buffer>): Change {
  const fill = (entry: Entry | undefined): Entry | undefined => {
    if (entry?.digest === undefined) return entry;
    const content = contents.get(entry.digest);
    if (entry.kind === 'file') return { ...entry, size: content?.length ?? 1 };
    const { digest: _, ...link } = entry;
    return { ...link, target: decodeBytes(content ?? Buffer.alloc(0)) };
  };
  const [before, after] = [fill(change.before), fill(change.after)];
  return { ...change, ...(before && { before }), ...(after && { after }) };
}
