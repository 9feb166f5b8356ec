import { decodeBytes, foldersOf, parentPath } from '../core/text/path.ts';
import type { Change, Digest, Entry } from '../core/types/entry.ts';
import type { Severity } from '../core/types/finding.ts';
import type { UserRule } from '../core/types/policy.ts';
import type { MaskedValues } from '../core/types/secret/decoy.ts';
import { lazy } from './formats/lazy.ts';
import { type Line, newLines } from './formats/lines.ts';

/** The base of the session; with it the audit finds more. */
export interface BaseReader {
  /** Every path of the base, for names that collide or look alike. */
  readonly paths: readonly string[] | ReadonlySet<string>;
  /** Content of a base file, or undefined. */
  read(path: string): Buffer | undefined;
  /** Paths of the base's executable files, where they are known. */
  readonly executables?: ReadonlySet<string>;
  /** Paths of the base's folders with the setgid bit, '' for the project itself, where they are known. */
  readonly setgidFolders?: ReadonlySet<string>;
  /** Target of a base link, or undefined. */
  linkTarget?(path: string): string | undefined;
}

export interface AuditInput {
  readonly changes: readonly Change[];
  /** Frozen content by digest. undefined: it cannot be read, and the change is blocked. */
  readonly content: (digest: Digest) => Buffer | undefined;
  readonly base?: BaseReader;
  /** Folders that had the setgid bit before the session, besides those of the base. '': the project itself. */
  readonly setgidFolders?: readonly string[];
  /** Folders of the user's PATH, '' for the top: a program there starts by its name. */
  readonly pathFolders?: readonly string[] | undefined;
  readonly userRules?: readonly UserRule[];
  /** ask: each first file of a kind is suspect. Default: a note for each kind. */
  readonly newKinds?: 'ask' | 'note';
  /** The configuration's severities, by rule id. */
  readonly severities?: Readonly<Record<string, Severity>>;
  /** Whether the host's file system distinguishes README from readme. Default: it may not. */
  readonly hostCase?: 'sensitive' | 'insensitive';
  /** The longest path that the host can hold in the project and in copies of it. Default: any. */
  readonly maxPathBytes?: number;
  /** End of the session in nanoseconds, for time stamps in the future. */
  readonly endedNs?: string;
  /** Values of masked files, which no change may have. */
  readonly masked?: MaskedValues;
  /** Called before the content of a change is looked at, with its path. */
  readonly looksAt?: (path: string) => void;
}

/** The changes and the base, with lookups that all parts of the audit share. */
export interface Scene {
  readonly input: AuditInput;
  readonly byPath: ReadonlyMap<string, Change>;
  /** Content of an entry: undefined when the entry is not a file, 'unreadable' when its content is missing. */
  bytes(entry: Entry | undefined): Buffer | 'unreadable' | undefined;
  /** The content as text; undefined when the entry is not a file, is unreadable or is longer than LONGEST_TEXT. */
  text(entry: Entry | undefined): string | undefined;
  /** New and deleted lines of a change; content that is not readable text has none. */
  added(change: Change): readonly Line[];
  deleted(change: Change): readonly Line[];
  /** Another path of the changes that is a name of the same inode. */
  linkPartner(change: Change): string | undefined;
  /** The old path of a new file that the session moved. */
  movedFrom(change: Change): string | undefined;
  /** The entry at a path after the session, as far as the changes and the base show. */
  after(path: string): Entry | 'base' | undefined;
  /** Whether the user's project has an entry at the path after an apply, as far as the session could see. */
  isSeen(path: string): boolean;
  /** Whether a folder had the setgid bit before the session, or got it from a folder that has it so. */
  hasSetgid(folder: string): boolean;
  /** Whether a folder is in the base, or its own entry is among the changes. */
  hasFolder(path: string): boolean;
}

/** The longest text that is judged, in bytes; a longer one is a finding. */
export const LONGEST_TEXT = 8 << 20;
/** So many results are kept: several rules ask for the same content of one change. */
const MAX_KEPT = 4;

function remember<K, V>(make: (key: K) => V): (key: K) => V {
  const kept = new Map<K, V>();
  return (key) => {
    const had = kept.get(key);
    if (had !== undefined) return had;
    const made = make(key);
    if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value as K);
    kept.set(key, made);
    return made;
  };
}

function movedSources({ kind, before, path, inGit, ignored }: Change): [Digest, string][] {
  const isFile = kind === 'deleted' && before?.kind === 'file' && before.digest !== undefined;
  return isFile && inGit !== true && ignored !== true ? [[before.digest, path]] : [];
}

/** Two paths of each group of names of one inode, by group. */
function linkGroups(changes: readonly Change[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { path, after } of changes) {
    if (after?.linkGroup === undefined) continue;
    const paths = groups.get(after.linkGroup);
    if (paths === undefined) groups.set(after.linkGroup, [path]);
    else if (paths.length < 2) paths.push(path);
  }
  return groups;
}

/** The mode bit by which what is made in a folder gets the folder's group, and a folder made in it this bit too. */
export const SETGID = 0o2000;

/** Folders with the setgid bit from before the session, and those that were made in them, one in the other. */
function setgidFolders({ base, changes, setgidFolders: known = [] }: AuditInput): Set<string> {
  const found = new Set([...known, ...(base?.setgidFolders ?? [])]);
  const gained = changes.filter(({ after }) => after?.kind === 'dir' && (after.mode & SETGID) !== 0);
  // Parents before children.
  for (const { path } of gained.toSorted((a, b) => a.path.length - b.path.length))
    if (found.has(parentPath(path))) found.add(path);
  return found;
}

/** Ignored output is withheld, so the user's own file stays at its path. */
const isKept = ({ before, after, ignored }: Change): boolean => (ignored === true ? before : after) !== undefined;

/** A scene over one input. */
export function sceneOf(input: AuditInput): Scene {
  const byPath = new Map<string, Change>(input.changes.map((change) => [change.path, change]));
  const known = input.base?.paths ?? [];
  // For a large project building the set takes longer than most audits.
  const basePaths: ReadonlySet<string> = known instanceof Set ? known : new Set(known);
  const baseFolders = lazy(() => foldersOf(basePaths));
  const moved = lazy(() => new Map(input.changes.flatMap(movedSources)));
  const newFolders = lazy(() => foldersOf(input.changes.filter(isKept).map(({ path }) => path)));
  const linked = lazy(() => linkGroups(input.changes));
  const setgid = lazy(() => setgidFolders(input));
  const content = remember((digest: Digest) => input.content(digest) ?? 'unreadable');
  const decoded = remember((bytes: Buffer) => decodeBytes(bytes));
  const bytesOf: Scene['bytes'] = (entry) => {
    if (entry?.kind !== 'file') return undefined;
    if (entry.digest === undefined) return entry.size === 0 ? Buffer.alloc(0) : 'unreadable';
    return content(entry.digest);
  };
  const decodedText: Scene['text'] = (entry) => {
    const bytes = bytesOf(entry);
    return Buffer.isBuffer(bytes) && bytes.length <= LONGEST_TEXT ? decoded(bytes) : undefined;
  };
  return {
    input,
    byPath,
    bytes: bytesOf,
    text: decodedText,
    added: remember((change: Change) => newLines(decodedText(change.before), decodedText(change.after))),
    deleted: remember((change: Change) => newLines(decodedText(change.after), decodedText(change.before))),
    linkPartner: ({ path, after }) =>
      linked()
        .get(after?.linkGroup ?? '')
        ?.find((one) => one !== path),
    movedFrom: ({ after }) => (after?.digest === undefined ? undefined : moved().get(after.digest)),
    after: (path) => {
      const change = byPath.get(path);
      if (change !== undefined) return change.after;
      return basePaths.has(path) ? 'base' : undefined;
    },
    isSeen: (path) => {
      const change = byPath.get(path);
      if (change !== undefined) return isKept(change);
      return basePaths.has(path) || baseFolders().has(path) || newFolders().has(path);
    },
    hasSetgid: (folder) => setgid().has(folder),
    hasFolder: (path) => byPath.has(path) || baseFolders().has(path),
  };
}
