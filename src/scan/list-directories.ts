import type { Stats } from 'node:fs';
import type { makePacker } from './packed-directory.ts';

/** A name or path: text, or bytes where it is not UTF-8. */
export type AnyPath = string | Uint8Array;

export interface Graft {
  readonly source: string;
  /** Names at its top that are left out. */
  readonly without: readonly string[];
}

/** A directory that is to be looked at. */
export interface ListTask {
  /** Of the directory above; undefined for the root. */
  readonly parent: string | undefined;
  readonly name: AnyPath;
  /** Directories on the host that together are it, the winning one first. */
  readonly sources: ReadonlyArray<{ readonly source: AnyPath; readonly without: readonly string[] }>;
  /** It lies elsewhere than its path says. */
  readonly grafted: boolean;
}

/** What every lister of one walk is told. */
export interface ListOptions {
  readonly grafts: ReadonlyMap<string, readonly Graft[]>;
  readonly plain: boolean;
  /** Without, every directory below is given back: the rules of what is left out are asked in between. */
  readonly descend: boolean;
  /** When the walk began, in milliseconds since the epoch as the file system's clock has them. */
  readonly since: number;
  /** How the directories were before: their sections begin at `at[2 * i + 1]` of `chunks[at[2 * i]]`. */
  readonly known: {
    readonly dirs: readonly string[];
    readonly chunks: readonly SharedArrayBuffer[];
    readonly at: Uint32Array;
  };
}

/** What became of some tasks: `dirs[i]` is `known.dirs[same[i]]` unchanged, or for -1 the next section of `chunk`. */
export interface Listed {
  readonly dirs: readonly string[];
  readonly same: readonly number[];
  readonly chunk: SharedArrayBuffer;
  readonly entries: number;
  /** Whether one of the directories or entries changed since the walk began. */
  readonly changed: boolean;
  /** Not looked at yet: what the budget did not reach, and what is not for a lister to enter. */
  readonly below: readonly ListTask[];
  /** Left out; without a name the directory itself. */
  readonly problems: ReadonlyArray<{ readonly dir: string; readonly name?: AnyPath; readonly why: string }>;
  /** Where entries of a directory that is grafted lie; without a name all of them. */
  readonly elsewhere: ReadonlyArray<{ readonly dir: string; readonly name?: AnyPath; readonly source: AnyPath }>;
}

/**
 * Looks at directories, depth first, until `budget` entries have been seen. Runs in workers too, from its own text: so
 * it may use nothing but its arguments.
 */
export function makeLister(
  fs: typeof import('node:fs'),
  packer: ReturnType<typeof makePacker>,
  options: ListOptions,
): (tasks: readonly ListTask[], budget: number) => Listed {
  /** In bytes: no path is longer. */
  const POINTER_MAX = 8192;
  const { S_IFMT, S_IFREG, S_IFDIR, S_IFLNK, S_IFSOCK, S_IFIFO } = fs.constants;
  const { known } = options;
  const knownAt = new Map(known.dirs.map((dir, i) => [dir, i]));
  const quietly = { throwIfNoEntry: false } as const;
  let numbers = new Float64Array(packer.fields * 1024);

  /** In a directory with a name that is not UTF-8 every name is a string of its bytes ("latin1"). */
  const bytesOf = (name: string, text: boolean): AnyPath => (text ? name : Buffer.from(name, 'latin1'));
  const join = (source: AnyPath, name: string, text: boolean): AnyPath =>
    text && typeof source === 'string'
      ? `${source}/${name}`
      : Buffer.concat([Buffer.from(source as string), Buffer.from('/'), Buffer.from(name, text ? 'utf8' : 'latin1')]);

  return (tasks, budget) => {
    const dirs: string[] = [];
    const same: number[] = [];
    const fresh: Array<{ names: Buffer; numbers: Float64Array }> = [];
    const below: ListTask[] = [];
    const problems: Array<Listed['problems'][number]> = [];
    const elsewhere: Array<Listed['elsewhere'][number]> = [];
    let [seen, changed] = [0, false];

    const read = (source: AnyPath, dir: string, text: boolean): string[] => {
      try {
        // Workers are given bytes without Buffer's own methods.
        const place = typeof source === 'string' ? source : Buffer.from(source);
        return text
          ? fs.readdirSync(place)
          : fs.readdirSync(place, { encoding: 'buffer' }).map((one) => one.toString('latin1'));
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        // Of several sources some lack a directory; one that went away is seen by the next walk.
        if (code !== 'ENOENT' && code !== 'ENOTDIR') problems.push({ dir, why: `cannot be listed (${code})` });
        return [];
      }
    };
    const look = (full: AnyPath, dir: string, name: AnyPath): Stats | undefined => {
      try {
        return fs.lstatSync(full as string, quietly);
      } catch (error) {
        problems.push({ dir, name, why: `cannot be looked at (${(error as NodeJS.ErrnoException).code})` });
        return undefined;
      }
    };
    const hasMoved = (source: AnyPath): boolean => {
      try {
        const stat = fs.lstatSync(source as string, quietly);
        return stat === undefined || stat.ctimeMs >= options.since;
      } catch {
        // Whoever listed it has said so.
        return false;
      }
    };
    const special = (type: number): string =>
      type === S_IFSOCK ? 'a socket' : type === S_IFIFO ? 'a FIFO' : 'a device';

    const list = ({ parent, name: own, sources, grafted }: ListTask): ListTask[] => {
      const dir = parent === undefined ? '' : parent === '' ? (own as string) : `${parent}/${own as string}`;
      const prefix = dir === '' ? '' : `${dir}/`;
      let text = true;
      let found = sources.map(({ source }) => read(source, dir, true));
      // A replacement character may stand for bytes that are not UTF-8: read again as bytes.
      if (found.some((names) => names.some((name) => name.includes('\ufffd')))) {
        text = false;
        found = sources.map(({ source }) => read(source, dir, false));
      }
      // Of several sources: who has which name.
      let owners: Map<string, AnyPath[]> | undefined;
      if (sources.length > 1 || sources[0]?.without.length !== 0) {
        owners = new Map();
        for (const [i, { source, without }] of sources.entries()) {
          for (const name of found[i] as string[]) {
            if (without.includes(name)) continue;
            const has = owners.get(name);
            if (has === undefined) owners.set(name, [source]);
            else has.push(source);
          }
        }
      } else if (grafted) elsewhere.push({ dir, source: sources[0].source });
      let names = (owners === undefined ? (found[0] as string[]) : [...owners.keys()]).sort();
      const head = !options.plain && names.includes('HEAD');
      const git = head && names.includes('objects') && names.includes('refs');
      const linked = head && names.includes('commondir');
      if (numbers.length < names.length * packer.fields) numbers = new Float64Array(names.length * packer.fields * 2);
      const inside: ListTask[] = [];
      const gone = new Set<number>();
      let at = 0;
      for (let i = 0; i < names.length; i++) {
        const name = names[i] as string;
        const from = owners?.get(name) ?? [(sources[0] as { source: AnyPath }).source];
        const graft = options.grafts.size === 0 ? undefined : options.grafts.get(prefix + name);
        const full = join(from[0] as AnyPath, name, text);
        const stat = look(graft?.[0]?.source ?? full, dir, bytesOf(name, text));
        const type = stat === undefined ? 0 : stat.mode & S_IFMT;
        const config = (git && name === 'config') || ((git || linked) && name === 'config.worktree');
        const pointer = name === '.git' ? !options.plain : linked && name === 'gitdir';
        const rewritten = config || (pointer && (stat?.size ?? 0) <= POINTER_MAX);
        const kind = type === S_IFREG ? (rewritten ? 'g' : 'f') : type === S_IFDIR ? 'd' : type === S_IFLNK ? 'l' : '';
        if (stat === undefined || kind === '') {
          if (stat !== undefined) problems.push({ dir, name: bytesOf(name, text), why: special(type) });
          gone.add(i);
          continue;
        }
        // A directory's size and link count are the file system's own business.
        const directory = kind === 'd';
        numbers[at] = packer.head(stat.mode & 0o7777, kind, directory ? 1 : stat.nlink);
        numbers[at + 1] = directory ? 0 : stat.size;
        numbers[at + 2] = stat.mtimeMs;
        numbers[at + 3] = stat.ctimeMs;
        numbers[at + 4] = stat.ino;
        numbers[at + 5] = stat.dev;
        changed ||= stat.ctimeMs >= options.since;
        at += packer.fields;
        if (owners !== undefined) elsewhere.push({ dir, name: bytesOf(name, text), source: full });
        if (!directory) continue;
        const into = graft ?? from.map((source) => ({ source: join(source, name, text), without: [] }));
        inside.push({
          parent: dir,
          name: bytesOf(name, text),
          sources: into,
          grafted: graft !== undefined || grafted,
        });
      }
      // What went away shows in its directory alone, which was looked at before it was listed.
      changed ||= sources.some(({ source }) => hasMoved(source));
      seen += names.length + 1;
      if (gone.size > 0) names = names.filter((_, i) => !gone.has(i));
      keep(dir, names, text, numbers.subarray(0, at));
      return inside.reverse();
    };

    /** As one more section, unless the directory is as it was. */
    const keep = (dir: string, names: readonly string[], text: boolean, values: Float64Array): void => {
      const joined = names.join('/');
      const encoding = text ? 'utf8' : 'latin1';
      dirs.push(dir);
      const index = knownAt.get(dir);
      if (index !== undefined) {
        const buffer = known.chunks[known.at[2 * index] as number] as SharedArrayBuffer;
        const start = known.at[2 * index + 1] as number;
        const [count = 0, length = 0] = new Uint32Array(buffer, start, 2);
        if (count === names.length) {
          const before = Buffer.from(buffer, start, packer.length(count, length));
          const oldNames = before.toString(encoding, packer.startBytes, packer.startBytes + length);
          const oldNumbers = before.subarray(before.length - values.byteLength);
          const now = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
          if (oldNames === joined && oldNumbers.equals(now)) {
            same.push(index);
            return;
          }
        }
      }
      same.push(-1);
      fresh.push({ names: Buffer.from(joined, encoding), numbers: values.slice() });
    };

    const todo = [...tasks].reverse();
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
      for (const task of list(next)) {
        if (options.descend && typeof task.name === 'string') todo.push(task);
        else below.push(task);
      }
      if (seen < budget) continue;
      below.push(...todo.reverse());
      break;
    }
    const lengths = fresh.map((one) => packer.length(one.numbers.length / packer.fields, one.names.length));
    const chunk = new SharedArrayBuffer(lengths.reduce((sum, length) => sum + length, 0));
    let place = 0;
    for (const [i, one] of fresh.entries()) {
      packer.pack(chunk, place, one.names, one.numbers);
      place += lengths[i] as number;
    }
    return { dirs, same, chunk, entries: seen, changed, below, problems, elsewhere };
  };
}
