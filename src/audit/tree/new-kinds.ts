import { isDotGitName } from '../../core/git/names.ts';
import { foldersOf } from '../../core/text/path.ts';
import type { Change } from '../../core/types/entry.ts';
import { foldPath } from '../formats/glob.ts';
import type { Found } from '../general-rules/rule.ts';
import type { Scene } from '../input.ts';
import { isProgram, isReadByPeople } from '../judges/program.ts';

/** What makes files of one kind. */
type KindLevel = 'ending' | 'name' | 'folder' | 'ending in its folder' | 'executable';

/** Files of a kind that the project did not have. */
interface NewKind {
  readonly level: KindLevel;
  /** As a summary names it: `*.mdx`, `.config/`, `*.sh in docs`. */
  readonly kind: string;
  /** At least one, in the order of the changes. */
  readonly paths: readonly string[];
}

interface CreatedFile {
  readonly path: string;
  readonly isExecutable: boolean;
}

/** The project before the session. Must not change. */
interface Precedent {
  /** Files, links and folders. */
  readonly paths: Iterable<string>;
  readonly executables?: ReadonlySet<string> | undefined;
}

/** A project with fewer files has no kinds yet: in a new one every file would be the first of its kind. */
const MIN_PROJECT_FILES = 20;
/** The same of a folder. */
const MIN_FOLDER_FILES = 3;

/**
 * Findings for the first files of a kind. With `ask` nobody reads the changes, and each file is suspect. Otherwise a note for
 * each kind that a tool may run or obey: a first text file or picture is not news, and teaches to skip notes.
 */
export function newKindsOf(scene: Scene): readonly Found[] {
  const { base, changes, newKinds: mode = 'note' } = scene.input;
  const created = changes.filter(isNewFile).map(({ path, after }) => ({ path, isExecutable: hasExecuteBit(after) }));
  if (base === undefined || created.length === 0) return [];
  const kinds = newKinds(created, base);
  if (mode === 'ask') return kinds.flatMap(({ kind, paths }) => paths.map((path) => ({ path, detail: kind })));
  return kinds.flatMap(({ level, kind, paths }) => {
    const acting = paths.filter((path) => mayAct(level, scene.byPath.get(path), scene));
    const detail = `${kind}: ${amountOf(acting.length)}`;
    return acting.length === 0 ? [] : [{ path: acting[0] as string, case: 'noted', detail }];
  });
}

/**
 * Whether a tool may run or obey a file. Tools find names without an ending, hidden files and hidden folders by themselves. An
 * ending that the project has in other folders is old news, unless it is that of a program.
 */
function mayAct(level: KindLevel, change: Change | undefined, scene: Scene): boolean {
  if (change === undefined || level === 'folder' || level === 'name' || level === 'executable') return true;
  if (level === 'ending' && !isReadByPeople(change.path)) return true;
  return isProgram({ path: change.path, after: scene.text(change.after), change });
}

function isNewFile({ kind, after, path, ignored, problem }: Change): boolean {
  if (kind !== 'created' || after?.kind !== 'file' || ignored === true || problem !== undefined) return false;
  return !path.split('/').some(isDotGitName);
}

const hasExecuteBit = (entry: Change['after']): boolean => ((entry?.mode ?? 0) & 0o111) !== 0;
const amountOf = (count: number): string => (count === 1 ? '1 file' : `${count} files`);

/** The new files by kind, each file once, by the widest kind that is new. */
export function newKinds(created: readonly CreatedFile[], precedent: Precedent): NewKind[] {
  if (created.length === 0) return [];
  const known = kindsOf(precedent);
  if (known.files < MIN_PROJECT_FILES) return [];
  const found = new Map<string, { level: KindLevel; kind: string; paths: string[] }>();
  for (const file of created) {
    const fresh = firstNewKind(file, known);
    if (fresh === undefined) continue;
    const one = found.get(`${fresh.level} ${fresh.kind}`) ?? { ...fresh, paths: [] };
    one.paths.push(file.path);
    found.set(`${fresh.level} ${fresh.kind}`, one);
  }
  return [...found.values()];
}

interface KnownKinds {
  files: number;
  readonly endings: Set<string>;
  readonly names: Set<string>;
  readonly folders: Set<string>;
  readonly byFolder: Map<string, { files: number; executables: number; readonly endings: Set<string> }>;
}

const kindsByPrecedent = new WeakMap<Precedent, KnownKinds>();

function kindsOf(precedent: Precedent): KnownKinds {
  for (const _ of readKinds(precedent));
  return kindsByPrecedent.get(precedent) as KnownKinds;
}

/** So many paths are one piece of work. */
const PIECE_PATHS = 1000;

/** Reads the kinds of the project, once; yields after each piece. */
export function* readKinds(precedent: Precedent): Generator<void> {
  if (kindsByPrecedent.has(precedent)) return;
  const { paths, executables } = precedent;
  const known: KnownKinds = { files: 0, endings: new Set(), names: new Set(), folders: new Set(), byFolder: new Map() };
  const folders = foldersOf(paths);
  for (const path of paths) {
    if (folders.has(path)) continue;
    if (known.files % PIECE_PATHS === 0) yield;
    const { folder, hidden, name, ending } = partsOf(path);
    known.files += 1;
    if (hidden !== undefined) known.folders.add(hidden);
    if (ending === '') known.names.add(name);
    else known.endings.add(ending);
    const own = known.byFolder.get(folder) ?? { files: 0, executables: 0, endings: new Set() };
    own.files += 1;
    if (executables?.has(path)) own.executables += 1;
    own.endings.add(ending);
    known.byFolder.set(folder, own);
  }
  kindsByPrecedent.set(precedent, known);
}

function firstNewKind(
  { path, isExecutable }: CreatedFile,
  known: KnownKinds,
): { readonly level: KindLevel; readonly kind: string } | undefined {
  const { folder, hidden, name, ending } = partsOf(path);
  if (hidden !== undefined && !known.folders.has(hidden)) return { level: 'folder', kind: `${hidden}/` };
  if (ending === '' && !known.names.has(name)) return { level: 'name', kind: name };
  if (ending !== '' && !known.endings.has(ending)) return { level: 'ending', kind: `*${ending}` };
  const own = known.byFolder.get(folder);
  if (own === undefined) return undefined;
  const where = folder === '' ? 'the top of the project' : folder;
  if (isExecutable && own.executables === 0) return { level: 'executable', kind: `executable files in ${where}` };
  if (own.files < MIN_FOLDER_FILES || own.endings.has(ending) || ending === '') return undefined;
  return { level: 'ending in its folder', kind: `*${ending} in ${where}` };
}

interface Parts {
  readonly folder: string;
  /** The first folder of the path that is hidden. */
  readonly hidden: string | undefined;
  readonly name: string;
  /** `.js`, `.config.js`; empty for a name without one, and for a hidden file. */
  readonly ending: string;
}

function partsOf(path: string): Parts {
  const folded = foldPath(path);
  const at = folded.lastIndexOf('/');
  const name = folded.slice(at + 1);
  const folder = at < 0 ? '' : folded.slice(0, at);
  const hidden = folder.split('/').find((part) => part.startsWith('.'));
  const dot = name.lastIndexOf('.');
  return { folder, hidden, name, ending: dot <= 0 ? '' : name.slice(dot) };
}
