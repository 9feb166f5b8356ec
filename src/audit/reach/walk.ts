import { decodeBytes } from '../../core/text/path.ts';
import type { BaseReader, Scene } from '../input.ts';
import { isFollowed, languageOf } from './extract/languages.ts';
import {
  type Asked,
  addNames,
  askedFor,
  emptyTables,
  isEmpty,
  type NameTables,
  referrerOfAsked,
} from './name-tables.ts';
import type { Name } from './names.ts';

/** Limits for all programs of one audit. */
const MAX_PROGRAMS = 400;
const MAX_BYTES = 8 << 20;
const MAX_PROGRAM_BYTES = 1 << 20;
/** The longest chain of programs, each of which names the next one. */
const MAX_STEPS = 12;

interface Program {
  readonly path: string;
  readonly asked: Asked;
}

/** The programs of a base, and what those that were read name: neither changes during a session. */
interface BasePrograms {
  readonly all: readonly Program[];
  readonly names: Map<string, readonly Name[]>;
}
const ofBases = new WeakMap<BaseReader, BasePrograms>();

/** The programs of a base, in pieces of work between which the caller may pause. */
export function* readPrograms(base: BaseReader): Generator<void, BasePrograms> {
  const known = ofBases.get(base);
  if (known !== undefined) return known;
  const all: Program[] = [];
  let at = 0;
  for (const path of base.paths) {
    if (isFollowed(path)) all.push({ path, asked: askedFor(path) });
    at += 1;
    if (at % PATHS_AT_ONCE === 0) yield;
  }
  const made = { all, names: new Map<string, readonly Name[]>() };
  ofBases.set(base, made);
  return made;
}
const PATHS_AT_ONCE = 500;

function programsOf(base: BaseReader): BasePrograms {
  const pieces = readPrograms(base);
  let step = pieces.next();
  while (step.done !== true) step = pieces.next();
  return step.value;
}

const programsAmong = (paths: readonly string[]): Program[] =>
  paths.filter(isFollowed).map((path) => ({ path, asked: askedFor(path) }));

/**
 * Adds what programs name that the tables already lead to, at any depth up to the limits: configuration names one file of a
 * tool, and that file names the others. `resolve`: names of packages as names of their files. `entries`: where the
 * application begins; what these import is its ordinary source.
 */
export function followPrograms(
  tables: NameTables,
  scene: Scene,
  resolve: (path: string, names: readonly Name[]) => readonly Name[],
  aliases: (path: string) => readonly string[],
  entries: ReadonlySet<string>,
): void {
  if (isEmpty(tables)) return;
  const { base, changes } = scene.input;
  const known = base === undefined ? undefined : programsOf(base);
  const own = programsAmong(changes.filter(({ ignored }) => ignored !== true).map(({ path }) => path));
  const isOwn = new Set(own.map(({ path }) => path));
  let left = [...own, ...(known?.all ?? []).filter(({ path }) => !isOwn.has(path))];
  let newest = tables;
  let [programs, bytes] = [0, 0];
  for (let step = 0; step < MAX_STEPS && !isEmpty(newest); step += 1) {
    const leading = newest;
    const isNamed = ({ path, asked }: Program): boolean =>
      referrerOfAsked(leading, asked) !== undefined ||
      (isOwn.has(path) && aliases(path).some((one) => referrerOfAsked(leading, askedFor(one)) !== undefined));
    const reached = left.filter(isNamed);
    const done = new Set(reached);
    left = left.filter((one) => !done.has(one));
    newest = emptyTables();
    for (const { path } of reached) {
      if (programs >= MAX_PROGRAMS || bytes >= MAX_BYTES) return;
      programs += 1;
      // What only a deleted file names runs no more.
      if ((isOwn.has(path) && scene.after(path) === undefined) || entries.has(path)) continue;
      const kept = isOwn.has(path) ? undefined : known?.names.get(path);
      const texts = kept === undefined ? textsOf(scene, path) : [];
      for (const text of texts) bytes += text.length;
      const found = kept ?? texts.flatMap((text) => languageOf(path, text)?.namesOf(path, text) ?? []);
      if (!isOwn.has(path)) known?.names.set(path, found);
      const names = resolve(path, found);
      addNames(tables, path, names);
      addNames(newest, path, names);
    }
  }
}

/** What a program was and what it is. */
function textsOf({ input, byPath, bytes }: Scene, path: string): string[] {
  const change = byPath.get(path);
  const contents = change === undefined ? [input.base?.read(path)] : [bytes(change.before), bytes(change.after)];
  return contents.flatMap((one) => (Buffer.isBuffer(one) && one.length <= MAX_PROGRAM_BYTES ? [decodeBytes(one)] : []));
}
