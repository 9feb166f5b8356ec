import { isInDotGit } from '../../core/git/names.ts';
import { nameOfPath, parentPath } from '../../core/text/path.ts';
import { readAsWalked } from '../scan/git/git-files.ts';
import { type Row, readRows, rowsOf, type Section } from '../scan/packed-directory.ts';
import { rowAt, type Snapshot } from '../scan/snapshot.ts';
import { fsPath, type WalkedTree } from '../scan/walk.ts';
import { type FoundSecret, type Place, placeOf, Search } from './search.ts';

/** What an earlier scan found. Only what changed since then is read again. */
export interface FoundSecrets {
  /** Of the rules. What another release found is found anew. */
  readonly version: number;
  readonly files: readonly FoundSecret[];
  /** Paths that the limits of a scan left out. The next scan searches the first ones of them. */
  readonly unsearched?: readonly string[];
}

/** To be raised with every change of what core/secrets takes for a secret. */
export const SECRETS_VERSION = 6;

export interface FindOptions {
  readonly known: { readonly snapshot: Snapshot; readonly found: FoundSecrets | undefined } | undefined;
  /** Whether an index of git has a path. */
  readonly isTracked: (path: string) => boolean;
  /** Whether an ignore rule matches a path that no index has. */
  readonly isIgnored: (path: string) => boolean;
}

/** The files of a walked tree that hold secrets. Reads what is new or changed since `known`, and nothing else. */
export function findSecrets(walked: Pick<WalkedTree, 'snapshot' | 'sourceOf'>, options: FindOptions): FoundSecrets {
  const { snapshot } = walked;
  const known = options.known?.found?.version === SECRETS_VERSION ? options.known : undefined;
  const before = known?.snapshot ?? new Map<string, Section>();
  const isStill = (path: string): boolean => isUnchanged(rowAt(before, path), rowAt(snapshot, path));
  const files = (known?.found?.files ?? []).filter(({ path }) => isStill(path));
  const paths = new Set(files.map(({ path }) => path));
  const taken = new Set<string>();
  const read = (path: string, row: Row): Buffer => readAsWalked(fsPath(walked.sourceOf(path)), row);
  const search = new Search<Row>({ isTracked: options.isTracked, isIgnored: options.isIgnored, read });
  let hasOtherRules = false;
  const take = (place: Place, row: Row, isOld: boolean): void => {
    hasOtherRules ||= IGNORE_RULES.test(row.name) && known !== undefined;
    const path = place.prefix + row.name;
    if (row.kind !== 'f' || paths.has(path) || (isOld && taken.has(path))) return;
    if (known !== undefined) taken.add(path);
    search.take(place, row, isOld);
  };
  for (const { path, isNamed, of } of files) {
    const row = of === undefined ? rowAt(snapshot, path) : undefined;
    if (row?.kind === 'f' && (isNamed || options.isIgnored(path))) search.addSource(path, row);
  }
  forChanged(snapshot, before, (place, row) => take(place, row, false));
  // With other ignore rules, a file that was not searched may have to be; with other secrets, each may have copies of them.
  if (hasOtherRules || (known !== undefined && search.hasNamed))
    forChanged(snapshot, new Map(), (place, row) => take(place, row, true));
  for (const path of known?.found?.unsearched ?? []) {
    const row = isStill(path) ? rowAt(snapshot, path) : undefined;
    if (row !== undefined) take(placeOf(parentPath(path)), row, true);
  }
  const { files: found, unsearched } = search.finish();
  return foundOf([...files, ...found], unsearched);
}

/** Whether a scan found its files by the same rules as an earlier one, and left out the same files. */
export function isSameSearch(before: FoundSecrets | undefined, now: FoundSecrets): boolean {
  return before?.version === now.version && (before.unsearched ?? []).join('\0') === (now.unsearched ?? []).join('\0');
}

function foundOf(files: readonly FoundSecret[], unsearched: readonly string[]): FoundSecrets {
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return { version: SECRETS_VERSION, files: sorted, ...(unsearched.length === 0 ? {} : { unsearched }) };
}

/** As {@link findSecrets}, of regular files that are given one by one; those of a directory follow each other. */
export function findSecretsOf(
  files: Iterable<{ readonly path: string; readonly size: number }>,
  { isTracked, isIgnored, read }: Omit<FindOptions, 'known'> & { readonly read: (path: string) => Buffer },
): FoundSecrets {
  const search = new Search<{ readonly name: string; readonly size: number }>({ isTracked, isIgnored, read });
  let place = placeOf('');
  for (const { path, size } of files) {
    const dir = parentPath(path);
    if (place.dir !== dir) place = placeOf(dir);
    if (isInDotGit(dir) && !IN_GIT.test(place.prefix)) continue;
    search.take(place, { name: nameOfPath(path), size }, false);
  }
  const found = search.finish();
  return foundOf(found.files, found.unsearched);
}

/** Names of files that decide what is ignored; of `exclude` the one in git's directory. */
const IGNORE_RULES = /^(?:\.gitignore|exclude)$/;

/** Files whose row differs from the known one in more than its kind. Directories that are the same object have none. */
function forChanged(snapshot: Snapshot, known: Snapshot, body: (place: Place, row: Row) => void): void {
  for (const [dir, section] of snapshot) {
    const old = known.get(dir);
    const prefix = dir === '' ? '' : `${dir}/`;
    if (old === section || (isInDotGit(dir) && !IN_GIT.test(prefix))) continue;
    const place = placeOf(dir);
    const was = readRows(old);
    for (const row of rowsOf(section)) {
      if (row.kind === 'f' && !isUnchanged(was.get(row.name), row)) body(place, row);
      was.delete(row.name);
    }
    // A rule that was removed ignores no longer.
    for (const row of was.values()) if (row.name === '.gitignore') body(place, { ...row, kind: 'm' });
  }
}

/** Directories of git that may hold secrets of the user's, and its ignore rules. */
const IN_GIT = /(?:^|\/)\.git\/(?:git-crypt\/.*|info\/)?$/;

function isUnchanged(before: Row | undefined, now: Row | undefined): boolean {
  return (
    before !== undefined &&
    before.ino === now?.ino &&
    before.ctimeMs === now.ctimeMs &&
    before.mtimeMs === now.mtimeMs &&
    before.size === now.size &&
    before.dev === now.dev &&
    now.kind === 'f' &&
    // One that was left empty by --mask was not read.
    (before.kind === 'f' || before.kind === 'g')
  );
}
