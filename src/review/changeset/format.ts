import { isDotGitName } from '../../core/git/names.ts';
import { fields, listOf, number, oneOf, optional, text } from '../../core/store/parse-record.ts';
import { foldersAbove, parseRelPath, type RelPath } from '../../core/text/path.ts';
import type { Digest } from '../../core/types/entry.ts';

/** One side of a change in a change set: only what a project can hold. */
export interface SetEntry {
  readonly kind: 'file' | 'dir' | 'symlink';
  /** Permission bits. */
  readonly mode: number;
  /** Bytes for a file, 0 otherwise. */
  readonly size: number;
  /** Of a file. */
  readonly digest?: Digest;
  /** Of a symbolic link. */
  readonly target?: string;
}

/** A change of the session; at least one side is there. */
export interface SetChange {
  readonly path: RelPath;
  readonly before?: SetEntry;
  readonly after?: SetEntry;
  /** The exporter could not read or store it: it has no content here. */
  readonly unreadable?: true;
}

/** What a change set says of the session that it came from. For display only. */
export interface Origin {
  /** Id of the session on the machine that exported it. */
  readonly session: string;
  /** Release of run-claude that exported it. */
  readonly tool: string;
  /** When it was exported; ISO 8601 in UTC, whole seconds. */
  readonly exported: string;
}

/** The first file of a change set. No finding, no verdict, and no content of the exporter's project is in it. */
export interface SetManifest {
  readonly format: typeof FORMAT_NAME;
  readonly version: typeof FORMAT_VERSION;
  readonly origin: Origin;
  /** In the order of their paths. */
  readonly changes: readonly SetChange[];
}

export const FORMAT_NAME = 'run-claude change set';
export const FORMAT_VERSION = 1;

export const MAX_CHANGES = 100_000;
export const MAX_MANIFEST_BYTES = 64 << 20;
/** Of one file. */
export const MAX_FILE_BYTES = 2 ** 31;
/** Of all files together. */
export const MAX_CONTENT_BYTES = 2 ** 33;
const MAX_PATH_BYTES = 4096;
const MAX_NAME_BYTES = 255;
/** Names in a path: whoever compares a path with a project opens each folder of it. */
const MAX_DEPTH = 128;
/** Changes and the folders above them. */
const MAX_ENTRIES = 4 * MAX_CHANGES;

/** Controls, bidirectional and zero-width characters, line separators, and bytes that are not UTF-8. */
const UNSAFE_NAME = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

const entry = fields<SetEntry>({
  kind: oneOf('file', 'dir', 'symlink'),
  mode: number,
  size: number,
  digest: optional(text),
  target: optional(text),
});

const change = fields<SetChange>({
  path: text as never,
  before: optional(entry),
  after: optional(entry),
  unreadable: optional(oneOf(true)),
});

const manifest = fields<SetManifest>({
  format: oneOf(FORMAT_NAME),
  version: oneOf(FORMAT_VERSION),
  origin: fields<Origin>({ session: text, tool: text, exported: text }),
  changes: listOf(change),
});

/** The manifest, or why it is refused: one sentence without a name from the file. Pure. */
export function parseManifest(value: unknown): SetManifest | { readonly refused: string } {
  const { format, version } = (typeof value === 'object' && value !== null ? value : {}) as Partial<SetManifest>;
  if (format !== FORMAT_NAME) return { refused: 'it is not a change set of run-claude' };
  if (typeof version === 'number' && version > FORMAT_VERSION)
    return {
      refused: `a newer release of run-claude wrote it (version ${version}; this release reads ${FORMAT_VERSION})`,
    };
  if (manifest(value) !== undefined) return { refused: 'its list of changes is damaged' };
  const found = value as SetManifest;
  const refused = whyRefused(found);
  return refused === undefined ? found : { refused };
}

function whyRefused({ origin, changes }: SetManifest): string | undefined {
  if (changes.length > MAX_CHANGES) return `it has more than ${MAX_CHANGES} changes`;
  if (!/^\d{6}-\d{6}-[2-9b-z]{3}$/.test(origin.session)) return 'its origin is not the id of a session';
  if (!/^[0-9A-Za-z.+-]{1,40}$/.test(origin.tool)) return 'its origin is not a release of run-claude';
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(origin.exported)) return 'its origin has no valid time';
  for (const one of changes) {
    const why = whyPathRefused(one.path) ?? whySidesRefused(one);
    if (why !== undefined) return why;
  }
  return whyTogetherRefused(changes) ?? whyContentRefused(changes);
}

/** Why no change set may hold this path; undefined where it may. */
export function whyPathRefused(path: string): string | undefined {
  if (parseRelPath(path) === undefined) return 'a path in it leads out of the project';
  if (UNSAFE_NAME.test(path)) return 'a name in it has control or invisible characters';
  const names = path.split('/');
  if (names.some(isDotGitName)) return 'a path in it is in a .git';
  const isTooLong =
    Buffer.byteLength(path) > MAX_PATH_BYTES || names.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES);
  if (isTooLong) return 'a path in it is too long';
  return names.length > MAX_DEPTH ? 'a path in it is in too many folders' : undefined;
}

function whySidesRefused({ before, after, unreadable }: SetChange): string | undefined {
  if (before === undefined && after === undefined && unreadable === undefined) return 'a change in it has no content';
  for (const side of [before, after]) {
    if (side === undefined) continue;
    const why = whyEntryRefused(side, unreadable === true);
    if (why !== undefined) return why;
  }
  return undefined;
}

function whyEntryRefused({ kind, mode, size, digest, target }: SetEntry, isUnreadable: boolean): string | undefined {
  if (!Number.isInteger(mode) || mode < 0 || mode > 0o7777) return 'a mode in it is not valid';
  if (!Number.isSafeInteger(size) || size < 0 || size > MAX_FILE_BYTES) return 'a size in it is not valid';
  const isDigest = digest === undefined ? isUnreadable : /^[0-9a-f]{64}$/.test(digest);
  if (kind === 'file' ? !isDigest || target !== undefined : size !== 0 || digest !== undefined)
    return 'the content of a change in it is not valid';
  if (kind !== 'symlink') return target === undefined ? undefined : 'the content of a change in it is not valid';
  const isTarget =
    target === undefined ? isUnreadable : target !== '' && !target.includes('\0') && target.length <= MAX_PATH_BYTES;
  return isTarget ? undefined : 'a link in it has no valid target';
}

/** Two changes of one path, two names that some disk takes for one, or something below what is not a folder. */
function whyTogetherRefused(changes: readonly SetChange[]): string | undefined {
  const paths = new Set<string>(changes.map(({ path }) => path));
  if (paths.size !== changes.length) return 'it has two changes of one path';
  if (hasTooManyEntries([...paths])) return 'its paths are in too many folders';
  const left = changes.filter(({ after }) => after !== undefined);
  if (collidingPaths(left.map(({ path }) => path)).size > 0) return 'two names in it differ in letter case alone';
  const leaves = new Set<string>(left.filter(({ after }) => after?.kind !== 'dir').map(({ path }) => path));
  for (const { path } of left)
    for (const folder of foldersAbove(path)) if (leaves.has(folder)) return 'a path in it is below a file or a link';
  return undefined;
}

/** The paths whose name, or that of a folder above them, is spelled in another letter case elsewhere in the list. */
export function collidingPaths(paths: readonly string[]): ReadonlySet<string> {
  const { twice, entriesOf } = namesIn(paths);
  return twice.size === 0 ? twice : new Set(paths.filter((path) => entriesOf(path).some((one) => twice.has(one))));
}

/** Whether the paths have more entries, with the folders above them, than a change set may hold. */
export function hasTooManyEntries(paths: readonly string[]): boolean {
  return namesIn(paths).count > MAX_ENTRIES;
}

/** The names of all paths as one tree, where an entry is the key of its folder and its name without letter case. */
function namesIn(paths: readonly string[]): {
  readonly count: number;
  readonly twice: ReadonlySet<string>;
  readonly entriesOf: (path: string) => readonly string[];
} {
  // Whole paths as keys would take memory with the square of the depth.
  const known = new Map<string, { readonly id: number; readonly name: string }>();
  const twice = new Set<string>();
  const entriesOf = (path: string): readonly string[] => {
    let above = 0;
    return path.split('/').map((name) => {
      const key = `${above}/${foldName(name)}`;
      const entry = known.get(key) ?? { id: known.size + 1, name };
      known.set(key, entry);
      if (entry.name !== name) twice.add(key);
      above = entry.id;
      return key;
    });
  };
  for (const path of paths) entriesOf(path);
  return { count: known.size, twice, entriesOf };
}

function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

function whyContentRefused(changes: readonly SetChange[]): string | undefined {
  const sizes = new Map<Digest, number>();
  for (const { digest, size } of contentsOf(changes)) {
    if ((sizes.get(digest) ?? size) !== size) return 'it has two sizes for one content';
    sizes.set(digest, size);
  }
  let total = 0;
  for (const size of sizes.values()) total += size;
  return total > MAX_CONTENT_BYTES ? `its files take more than ${MAX_CONTENT_BYTES} bytes` : undefined;
}

/** A content that the change set carries. */
export interface SetContent {
  readonly digest: Digest;
  readonly size: number;
}

/** New contents of the changes, each once, in the order of their digests: the files after the manifest. */
export function contentsOf(changes: readonly SetChange[]): SetContent[] {
  const found = new Map<string, SetContent>();
  for (const { after, unreadable } of changes) {
    if (unreadable === true || after?.digest === undefined) continue;
    found.set(`${after.digest} ${after.size}`, { digest: after.digest, size: after.size });
  }
  return [...found.keys()].sort().map((key) => found.get(key) as SetContent);
}
