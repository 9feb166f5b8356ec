import type { Change } from '../../core/types/entry.ts';
import { isJudgedByContent } from '../files.ts';
import type { Aliases, Found } from '../general-rules/rule.ts';
import type { BaseReader, Scene } from '../input.ts';
import { addNames, emptyTables, type NameTables, referrerOf } from './name-tables.ts';
import { entriesOf } from './packages.ts';
import { type Names, namesOf, wantsBaseContent } from './referrers.ts';
import { indexProject } from './resolve-packages.ts';
import { followPrograms } from './walk.ts';

/** Limits for files that the session made or changed; files of the project are always read. */
const MAX_REFERRERS = 400;
const MAX_REFERRER_BYTES = 4 << 20;
/** What the base's files name, which does not change during a session. */
interface BaseReferences {
  readonly names: Map<string, Names>;
  /** How many paths of the base were read. */
  pathsRead: number;
}
const ofBases = new WeakMap<BaseReader, BaseReferences>();

/**
 * What each file of the base names that runs something, path by path; undefined for all others. A caller may do the work in
 * pieces while the agent runs.
 */
export function* namesOfBase(base: BaseReader): Generator<[string, Names] | undefined> {
  const known = ofBases.get(base) ?? { names: new Map<string, Names>(), pathsRead: 0 };
  ofBases.set(base, known);
  yield* known.names;
  let at = 0;
  for (const path of base.paths) {
    at += 1;
    if (at <= known.pathsRead) continue;
    const bytes = wantsBaseContent(path) ? base.read(path) : undefined;
    const names = bytes === undefined ? undefined : namesOf(path, bytes);
    if (names !== undefined) known.names.set(path, names);
    known.pathsRead = at;
    yield names === undefined ? undefined : [path, names];
  }
}

/**
 * Changed files that a build, hook, CI, editor or agent file of the project names, or a program that one of them runs, at
 * any depth up to the limits. `aliases`: other paths of a file.
 */
export function reached(scene: Scene, aliases: Aliases): readonly Found[] {
  const { tables, isDeleted } = readReferences(scene, aliases);
  const found: Found[] = [];
  for (const change of scene.input.changes) {
    if (!isAsked(change)) continue;
    const named = [change.path, ...aliases(change.path)]
      .map((name) => referrerOf(tables, name))
      .find((one) => one !== undefined && one !== change.path);
    // The file was deleted together with the file that ran it.
    if (change.after === undefined && named !== undefined && isDeleted(named)) continue;
    // Pinned versions in a list of requirements, say: the rule for such files knows what in them counts.
    if (named === undefined || isJudgedByContent(change.path, named) || isVersion(scene, change)) continue;
    if (isListedTest(change.path, named) || isQuietDocument(scene, change, named) || isBaseline(scene, change))
      continue;
    found.push({ path: change.path, detail: named });
  }
  return found;
}

/** The longest chain that is shown. */
const MAX_CHAIN = 12;

/**
 * The files that lead to a path, each of which is named by the next one: the script that includes it, the Makefile that runs
 * the script, the workflow that runs make. Empty where nothing names the path.
 */
export function reachChain(scene: Scene, aliases: Aliases, path: string): readonly string[] {
  const { tables } = readReferences(scene, aliases);
  const chain: string[] = [];
  for (let at: string | undefined = path; at !== undefined && chain.length < MAX_CHAIN; ) {
    const names: string[] = [at, ...aliases(at)];
    at = names.map((name) => referrerOf(tables, name)).find((one) => one !== undefined && !names.includes(one));
    if (at === undefined || at === path || chain.includes(at)) break;
    chain.push(at);
  }
  return chain;
}

interface References {
  readonly tables: NameTables;
  readonly isDeleted: (path: string) => boolean;
}

/** What the files of the base and of the change name. */
function readReferences(scene: Scene, aliases: Aliases): References {
  const { base, changes } = scene.input;
  const all: [string, Names][] = [];
  for (const one of base === undefined ? [] : namesOfBase(base)) if (one !== undefined) all.push(one);
  // Not those of the change: it could call a program of the build an entry.
  const entries = entriesOf(all.find(([path]) => path === 'package.json')?.[1].own);
  let [followed, bytesFollowed] = [0, 0];
  for (const change of changes) {
    if (change.ignored === true || change.problem !== undefined || !wantsBaseContent(change.path)) continue;
    scene.input.looksAt?.(change.path);
    for (const entry of [change.before, followed < MAX_REFERRERS ? change.after : undefined]) {
      const bytes = scene.bytes(entry);
      if (!Buffer.isBuffer(bytes)) continue;
      const own = entry === change.after;
      if (own && bytesFollowed + bytes.length > MAX_REFERRER_BYTES) continue;
      const names = namesOf(change.path, bytes);
      if (names === undefined) continue;
      all.push([change.path, names]);
      if (own) [followed, bytesFollowed] = [followed + 1, bytesFollowed + bytes.length];
    }
  }
  const isDeleted = (path: string): boolean => scene.byPath.has(path) && scene.after(path) === undefined;
  // Deleted files come last: when a file that stays refers to the same path, the finding names that file.
  const ordered = [...all.filter(([path]) => !isDeleted(path)), ...all.filter(([path]) => isDeleted(path))];
  const project = indexProject(ordered);
  const tables = emptyTables();
  for (const [path, { names }] of ordered) addNames(tables, path, names);
  for (const [path, { names }] of ordered) addNames(tables, path, project.resolve(names));
  for (const [path, names] of project.crates()) addNames(tables, path, names);
  followPrograms(tables, scene, (_, names) => [...names, ...project.resolve(names)], aliases, entries);
  return { tables, isDeleted };
}

/** Whether a list of tests names an ordinary test: a numbered script next to the list, as git and sharness have them. */
const isListedTest = (path: string, by: string): boolean =>
  /(^|\/)t\/t\d{4}-[\w.-]+\.sh$/i.test(path) && /(^|\/)t\/(makefile|meson\.build)$/i.test(by);

/** Code of an example that does more than compute. */
const ACTS = /\b(?:process|fs|net|env|ffi|thread)::|\bCommand\b|\bunsafe\b|\b(?:include|asm|env)\s?!/;

/** Whether nothing new in a document acts whose examples are only tested with the library that includes it. */
const isQuietDocument = (scene: Scene, change: Change, by: string): boolean =>
  /\.md$/i.test(change.path) && /\.rs$/i.test(by) && !scene.added(change).some(({ text }) => ACTS.test(text));

/** What a list of known errors says of each. */
const KNOWN_ERROR =
  /^\s{0,20}(?:(?:parameters|ignoreErrors):|-|(?:-\s{1,4})?(?:(?:raw)?message|identifier|count|path|reportUnmatched):[^\n]{0,4000})?\s{0,20}$/i;

/** Whether a file is a list of errors of PHPStan that are known, and nothing else is new in it. */
const isBaseline = (scene: Scene, change: Change): boolean =>
  /baseline[^/]{0,60}\.neon$/i.test(change.path) && scene.added(change).every(({ text }) => KNOWN_ERROR.test(text));

/** The line that says the version, of Python or Ruby. */
const VERSION_LINE = /^[ \t]{0,40}(?:__version__|VERSION) = (["'])\d[\w.+-]{0,60}\1(?:\.freeze)?$/m;

/**
 * Whether a file is only a version, before and after: whatever reads it gets no more than that. Or a module of which nothing
 * but the line with its version changed.
 */
function isVersion(scene: Scene, change: Change): boolean {
  if (/\.(py|rb)$/i.test(change.path) && change.before?.mode === change.after?.mode) {
    const [old, now] = [scene.text(change.before), scene.text(change.after)];
    const isSame = old?.replace(VERSION_LINE, '') === now?.replace(VERSION_LINE, '');
    return isSame && now !== undefined && VERSION_LINE.test(old ?? '') && VERSION_LINE.test(now);
  }
  const isPlain = (entry: Change['after']): boolean => /^v?\d[\w.+-]{0,60}\s*$/.test(scene.text(entry) ?? '');
  return change.after !== undefined && isPlain(change.after) && (change.before === undefined || isPlain(change.before));
}

/** Withheld changes are judged only if the user may still ask for them. */
function isAsked({ ignored, kind, unignored, after, before }: Change): boolean {
  const isWithheld = ignored === true && kind !== 'created' && unignored === undefined;
  return !isWithheld && (after ?? before)?.kind !== 'dir';
}
