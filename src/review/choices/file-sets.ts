import { foldersAbove } from '../../core/text/path.ts';
import type { FileSet } from '../../core/types/change/file-set.ts';
import type { WithheldFile } from '../../core/types/change/rename.ts';

/** One row of the table: how the files of a thing are found, and what it is called. */
interface SetKind {
  readonly what: string;
  /** A path that only a file of such a thing has; its first group that matches is the thing. */
  readonly sign: RegExp;
  /** The rest of a member's path after the thing, without the slash below a folder. */
  readonly rest: RegExp;
  readonly isFolder?: true;
  readonly isDatabase?: true;
  /** The rests of files that the program makes again: nothing is lost where they are left out. */
  readonly scratch?: RegExp;
  /** The rests of files whose content shows that the thing is open, or was not closed; how that content starts. */
  readonly inUse?: readonly { readonly rest: RegExp; readonly starts?: Buffer }[];
  /** All rests, where they are few and known: a member that the session left as it was is looked for under them. */
  readonly rests?: readonly string[];
}

const SHAPE_ENDINGS = ['shp', 'shx', 'dbf', 'prj', 'cpg', 'sbn', 'sbx', 'qix', 'qpj', 'shp.xml'];
/** The start of a rollback journal that has something to roll back (SQLite's file format, section 3). */
const ROLLBACK_JOURNAL = Buffer.from('d9d505f920a163d7', 'hex');

const KINDS: readonly SetKind[] = [
  {
    what: 'SQLite database',
    sign: /^(.+)-(?:wal|shm)$|^(.+\.[^./]+)-journal$/s,
    rest: /^(?:-(?:wal|shm|journal))?$/,
    isDatabase: true,
    scratch: /^-shm$/,
    inUse: [{ rest: /^-wal$/ }, { rest: /^-journal$/, starts: ROLLBACK_JOURNAL }],
    rests: ['', '-wal', '-shm', '-journal'],
  },
  {
    what: 'DuckDB database',
    sign: /^(.+)\.wal$/s,
    rest: /^(?:\.wal)?$/,
    isDatabase: true,
    inUse: [{ rest: /^\.wal$/ }],
    rests: ['', '.wal'],
  },
  {
    what: 'LevelDB or RocksDB database',
    sign: /^(?:(.*)\/)?(?:MANIFEST-[0-9]{6,}|[0-9]{6,}\.(?:ldb|sst))$/s,
    rest: /^(?:CURRENT|IDENTITY|LOCK|LOG(?:\.old[^/]*)?|MANIFEST-[0-9]+|OPTIONS-[0-9]+|[0-9]{6,}\.(?:ldb|sst|log|blob))$/,
    isFolder: true,
    isDatabase: true,
    scratch: /^(?:LOCK|LOG(?:\.old[^/]*)?)$/,
  },
  {
    what: 'MongoDB (WiredTiger) database',
    sign: /^(?:(.*)\/)?WiredTiger(?:\.wt|\.turtle)?$/s,
    rest: /^(?:WiredTiger(?:HS)?(?:\.[a-z]+)?|[^/]+\.wt|mongod\.lock|storage\.bson|journal\/WiredTiger[^/]+)$/,
    isFolder: true,
    isDatabase: true,
    scratch: /^(?:WiredTiger|mongod)\.lock$/,
    inUse: [{ rest: /^mongod\.lock$/ }],
  },
  {
    what: 'PostgreSQL data directory',
    sign: /^(?:(.*)\/)?global\/pg_control$/s,
    rest: /^(?:PG_VERSION|postmaster\.(?:pid|opts)|(?:global|base|pg_[a-z_]+)\/.+)$/s,
    isFolder: true,
    isDatabase: true,
    scratch: /^postmaster\.(?:pid|opts)$/,
    inUse: [{ rest: /^postmaster\.pid$/ }],
  },
  {
    what: 'git repository',
    sign: /^(?:(.*)\/)?objects\/(?:[0-9a-f]{2}\/[0-9a-f]{38,62}|pack\/pack-[0-9a-f]{40,64}\.(?:pack|idx))$/s,
    rest: /^(?:HEAD|FETCH_HEAD|ORIG_HEAD|packed-refs|shallow|config|index|(?:objects|refs|logs|info)\/.+)$/s,
    isFolder: true,
  },
  {
    what: 'git pack',
    sign: /^(.*pack-[0-9a-f]{40,64})\.(?:pack|idx)$/s,
    rest: /^\.(?:pack|idx|rev|bitmap|mtimes|keep|promisor)$/,
  },
  {
    what: 'shapefile',
    sign: /^(.+)\.(?:shp|shx)$/is,
    rest: new RegExp(`^\\.(?:${SHAPE_ENDINGS.join('|').replaceAll('.', '\\.')})$`, 'i'),
    rests: SHAPE_ENDINGS.map((ending) => `.${ending}`),
  },
  {
    what: 'TensorFlow checkpoint',
    sign: /^(.+)\.data-[0-9]{5}-of-[0-9]{5}$/s,
    rest: /^\.(?:index|meta|data-[0-9]{5}-of-[0-9]{5})$/,
    rests: ['.index', '.meta'],
  },
  {
    what: 'set of weight files',
    sign: /^(.+)-[0-9]{5}-of-[0-9]{5}\.(?:safetensors|bin|gguf)$/s,
    rest: /^(?:-[0-9]{5}-of-[0-9]{5}\.(?:safetensors|bin|gguf)|\.(?:safetensors|bin)\.index\.json)$/,
    rests: ['.safetensors.index.json', '.bin.index.json'],
  },
];

/**
 * Groups paths of files into the things that they belong to; the only place that knows which files are one thing. A path is
 * in one set at most. `others` are paths that only show that there is such a thing, and that are listed as members too:
 * what is on the host next to a changed file. Pure; its work grows with the number of paths.
 */
export function fileSets(paths: readonly string[], others: readonly string[] = []): FileSet[] {
  const asked = new Set(paths);
  const all = [...new Set([...paths, ...others])];
  const taken = new Set<string>();
  const sets: FileSet[] = [];
  for (const kind of KINDS) {
    const things = new Map<string, string[]>();
    for (const path of all) {
      const thing = thingOf(kind, path);
      if (thing !== undefined) things.set(thing, []);
    }
    if (things.size === 0) continue;
    for (const path of all) {
      if (taken.has(path)) continue;
      for (const thing of possibleThings(kind, path)) {
        if (!kind.rest.test(restOf({ ...kind, thing }, path))) continue;
        const members = things.get(thing);
        members?.push(path);
        if (members !== undefined) break;
      }
    }
    for (const [thing, members] of things) {
      if (members.length < 2 || !members.some((path) => asked.has(path))) continue;
      for (const path of members) taken.add(path);
      const { what, isFolder = false, isDatabase = false } = kind;
      sets.push({ what, thing, isFolder, isDatabase, members });
    }
  }
  return sets;
}

function thingOf({ sign, isFolder }: SetKind, path: string): string | undefined {
  const match = sign.exec(path);
  if (match === null) return undefined;
  const thing = match.slice(1).find((group) => group !== undefined);
  return thing ?? (isFolder ? '' : undefined);
}

/** How far below its folder a member may be: no real one is deeper, and an agent's paths have thousands of levels. */
const MAX_LEVELS = 16;

/** The things that a path could belong to by its place: the folders above it, or the starts of it. */
function* possibleThings(kind: SetKind, path: string): Generator<string> {
  if (kind.isFolder) {
    let levels = 0;
    for (const folder of foldersAbove(path)) {
      if (++levels > MAX_LEVELS) return;
      yield folder;
    }
    yield '';
    return;
  }
  const start = path.lastIndexOf('/') + 1;
  const cutAt = (end: number): number => Math.max(path.lastIndexOf('-', end - 1), path.lastIndexOf('.', end - 1));
  for (let end = path.length; end > start; end = cutAt(end)) yield path.slice(0, end);
}

function restOf({ isFolder, thing }: { readonly isFolder?: boolean; readonly thing: string }, path: string): string {
  return path.slice(isFolder && thing !== '' ? thing.length + 1 : thing.length);
}

/** A member that its program makes again: without it nothing is lost. */
export function isScratchMember(set: FileSet, path: string): boolean {
  return kindOf(set)?.scratch?.test(restOf(set, path)) === true;
}

/**
 * Whether content shows that the thing is open on the machine that has this member, or was not closed there: how the content
 * has to start, empty where any content does. Undefined: this member shows nothing.
 */
export function inUseStart(set: FileSet, path: string): Buffer | undefined {
  const found = kindOf(set)?.inUse?.find(({ rest }) => rest.test(restOf(set, path)));
  return found && (found.starts ?? Buffer.alloc(0));
}

/**
 * The name next to a member under which the session's version is written, so that all of them are one thing again:
 * `app.db.session-wal` for `app.db-wal`. Undefined for a thing that is a folder.
 */
export function conflictMember(set: FileSet, path: string): string | undefined {
  return set.isFolder ? undefined : `${set.thing}.session${restOf(set, path)}`;
}

/** The withheld files without which a thing that was changed is incomplete: what they hold is not in the other files. */
export function neededOf(changed: readonly string[], withheld: readonly WithheldFile[]): string[] {
  const sizes = new Map<string, number>(withheld.map(({ path, size }) => [path, size]));
  const sets = fileSets(changed, [...sizes.keys()]);
  return sets.flatMap((set) => set.members.filter((path) => (sizes.get(path) ?? 0) > 0 && !isScratchMember(set, path)));
}

/** Paths that may be members of the same things as these, where the kind has few names: what a session left as it was. */
export function possibleMembers(paths: readonly string[]): string[] {
  const found = new Set<string>();
  for (const kind of KINDS) {
    if (kind.rests === undefined) continue;
    const things = new Set(paths.flatMap((path) => thingOf(kind, path) ?? []));
    for (const thing of things) for (const rest of kind.rests) found.add(thing + rest);
  }
  for (const path of paths) found.delete(path);
  return [...found];
}

/** 'SQLite database app.db': for messages. Not cleaned. */
export function setName({ what, thing }: FileSet): string {
  return thing === '' ? what : `${what} ${thing}`;
}

function kindOf({ what }: FileSet): SetKind | undefined {
  return KINDS.find((kind) => kind.what === what);
}
