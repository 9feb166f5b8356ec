import type { Change } from '../../core/types/entry.ts';
import { isJudgedByContent } from '../files.ts';
import type { Aliases, Found } from '../general-rules/rule.ts';
import type { BaseReader, Scene } from '../input.ts';
import { includedDocuments, isAgentDocument } from './documents.ts';
import { followImports } from './imports.ts';
import { addFiles, addLeads, emptyTables, type LeadTables, mentionsAny, referrerOf } from './lead-tables.ts';
import { filesOfCommand, filesOfFolders, filesOfWord, indexPackages } from './packages.ts';
import { type Leads, leadsOf, wantsBaseContent } from './referrers.ts';

/** Limits for files that the session made or changed; files of the project are always read. */
const MAX_REFERRERS = 400;
const MAX_REFERRER_BYTES = 4 << 20;
/** So many characters of the base's scripts are kept in memory; other scripts are read again for each audit. */
const MAX_SCRIPT_CHARS = 32 << 20;
/** The longest chain of scripts from a file of the project to a changed file. */
const MAX_SCRIPT_STEPS = 3;

/** References of the base's files, which do not change during a session. */
interface BaseReferences {
  readonly leads: Map<string, Leads>;
  /** Shell scripts, and their text once it was read: only when another file refers to one of them. */
  readonly scripts: Map<string, string | undefined>;
  readonly ofScripts: Map<string, Leads | undefined>;
  /** How many paths of the base were read. */
  pathsRead: number;
  /** Characters of the scripts' texts. */
  chars: number;
}
const ofBases = new WeakMap<BaseReader, BaseReferences>();

function referencesOf(base: BaseReader): BaseReferences {
  const known = ofBases.get(base) ?? {
    leads: new Map(),
    scripts: new Map(),
    ofScripts: new Map(),
    pathsRead: 0,
    chars: 0,
  };
  ofBases.set(base, known);
  return known;
}

/**
 * The references of each file of the base, path by path; undefined for most and for shell scripts. A caller may do the
 * work in pieces while the agent runs.
 */
export function* leadsOfBase(base: BaseReader): Generator<[string, Leads] | undefined> {
  const known = referencesOf(base);
  yield* known.leads;
  let at = 0;
  for (const path of base.paths) {
    at += 1;
    if (at <= known.pathsRead) continue;
    const wanted = wantsBaseContent(path);
    if (wanted && isScript(path)) known.scripts.set(path, undefined);
    const bytes = wanted && !isScript(path) ? base.read(path) : undefined;
    const leads = bytes === undefined ? undefined : leadsOf(path, bytes);
    if (leads !== undefined) known.leads.set(path, leads);
    known.pathsRead = at;
    yield leads === undefined ? undefined : [path, leads];
  }
}

/** A script in lower case, each byte a character. */
function scriptText(base: BaseReader, path: string): string {
  const known = referencesOf(base);
  const kept = known.scripts.get(path);
  if (kept !== undefined) return kept;
  const text = base.read(path)?.toString('latin1').toLowerCase() ?? '';
  if (known.chars + text.length <= MAX_SCRIPT_CHARS) {
    known.chars += text.length;
    known.scripts.set(path, text);
  }
  return text;
}

function leadsOfScript(base: BaseReader, path: string): Leads | undefined {
  const { ofScripts } = referencesOf(base);
  if (ofScripts.has(path)) return ofScripts.get(path);
  const bytes = base.read(path);
  const leads = bytes === undefined ? undefined : leadsOf(path, bytes);
  ofScripts.set(path, leads);
  return leads;
}

/**
 * Changed files that a build, hook, CI or agent file of the project runs or includes by path, whatever their name, and
 * files that a shell script which is reached in this way runs or includes. `aliases`: other paths of a file.
 */
export function reached(scene: Scene, aliases: Aliases): readonly Found[] {
  const { base, changes } = scene.input;
  const all: [string, Leads][] = [];
  for (const one of base === undefined ? [] : leadsOfBase(base)) if (one !== undefined) all.push(one);
  let [followed, bytesFollowed] = [0, 0];
  for (const change of changes) {
    if (change.ignored === true || change.problem !== undefined || !wantsBaseContent(change.path)) continue;
    scene.input.looksAt?.(change.path);
    for (const entry of [change.before, followed < MAX_REFERRERS ? change.after : undefined]) {
      const bytes = scene.bytes(entry);
      if (!Buffer.isBuffer(bytes)) continue;
      const own = entry === change.after;
      if (own && bytesFollowed + bytes.length > MAX_REFERRER_BYTES) continue;
      const leads = leadsOf(change.path, bytes);
      if (leads === undefined) continue;
      all.push([change.path, leads]);
      if (own) [followed, bytesFollowed] = [followed + 1, bytesFollowed + bytes.length];
    }
  }
  const isDeleted = (path: string): boolean => scene.byPath.has(path) && scene.after(path) === undefined;
  // Deleted files come last: when a file that stays refers to the same path, the finding names that file.
  const ordered = [...all.filter(([path]) => !isDeleted(path)), ...all.filter(([path]) => isDeleted(path))];
  const tables = emptyTables();
  for (const [path, leads] of ordered) if (!isScript(path)) addLeads(tables, path, leads);
  addPackages(tables, ordered);
  addDocuments(tables, scene);
  const asked = changes.filter(isAsked).map(({ path }) => [path, ...aliases(path)]);
  followScripts(tables, ordered, base, isDeleted, asked.flat());
  followImports(tables, scene, isDeleted);
  const found: Found[] = [];
  for (const change of changes) {
    if (!isAsked(change)) continue;
    const named = [change.path, ...aliases(change.path)]
      .map((name) => referrerOf(tables, name))
      .find((one) => one !== undefined && one !== change.path);
    // The file was deleted together with the file that ran it.
    if (change.after === undefined && named !== undefined && isDeleted(named)) continue;
    // Pinned versions in a list of requirements, say: the rule for such files knows what in them counts.
    if (named === undefined || isJudgedByContent(change.path, named) || isVersion(scene, change)) continue;
    if (isListedTest(change.path, named)) continue;
    found.push({ path: change.path, detail: named });
  }
  return found;
}

/** Whether a list of tests names an ordinary test: a numbered script next to the list, as git and sharness have them. */
const isListedTest = (path: string, by: string): boolean =>
  /(^|\/)t\/t\d{4}-[\w.-]+\.sh$/i.test(path) && /(^|\/)t\/(makefile|meson\.build)$/i.test(by);

const VERSION_LINE = /^__version__ = (["'])\d[\w.+-]{0,60}\1$/m;

/**
 * Whether a file is only a version, before and after: whatever reads it gets no more than that. Or a module of Python of
 * which nothing but the line with its version changed.
 */
function isVersion(scene: Scene, change: Change): boolean {
  if (/\.py$/i.test(change.path) && change.before?.mode === change.after?.mode) {
    const [old, now] = [scene.text(change.before), scene.text(change.after)];
    const isSame = old?.replace(VERSION_LINE, '') === now?.replace(VERSION_LINE, '');
    return isSame && now !== undefined && VERSION_LINE.test(old ?? '') && VERSION_LINE.test(now);
  }
  const isPlain = (entry: Change['after']): boolean => /^v?\d[\w.+-]{0,60}\s*$/.test(scene.text(entry) ?? '');
  return change.after !== undefined && isPlain(change.after) && (change.before === undefined || isPlain(change.before));
}

/** Adds what files name of the project's own packages: their entry points, paths within them, and their commands. */
function addPackages(tables: LeadTables, all: readonly (readonly [string, Leads])[]): void {
  const packages = indexPackages(all.flatMap(([, { own }]) => (own === undefined ? [] : [own])));
  if (packages.size === 0) return;
  for (const [path, { packages: words = [], commands = [], runFolders = [], dirs }] of all) {
    const targets = [
      ...[...words].flatMap((word) => filesOfWord(packages, word, dirs)),
      ...[...commands].flatMap((word) => filesOfCommand(packages, word)),
      ...filesOfFolders(packages, runFolders),
    ];
    if (targets.length > 0) addFiles(tables, path, targets);
  }
}

/** Adds what the documents of agents include, at any depth. */
function addDocuments(tables: LeadTables, scene: Scene): void {
  const { base, changes } = scene.input;
  const documents = new Set<string>();
  for (const path of base?.paths ?? []) if (isAgentDocument(path)) documents.add(path);
  for (const { path, ignored } of changes) if (ignored !== true && isAgentDocument(path)) documents.add(path);
  const read = (path: string): Buffer[] => {
    const change = scene.byPath.get(path);
    const found = change === undefined ? [base?.read(path)] : [scene.bytes(change.before), scene.bytes(change.after)];
    return found.filter((one): one is Buffer => Buffer.isBuffer(one));
  };
  for (const [by, path] of includedDocuments([...documents], read)) addFiles(tables, by, [path]);
}

/** Withheld changes are judged only if the user may still ask for them. */
function isAsked({ ignored, kind, unignored, after, before }: Change): boolean {
  const isWithheld = ignored === true && kind !== 'created' && unignored === undefined;
  return !isWithheld && (after ?? before)?.kind !== 'dir';
}

/** Adds the references of scripts that another file refers to, over at most MAX_SCRIPT_STEPS scripts. */
function followScripts(
  tables: LeadTables,
  changed: readonly (readonly [string, Leads])[],
  base: BaseReader | undefined,
  isDeleted: (path: string) => boolean,
  asked: readonly string[],
): void {
  const own = new Map<string, Leads[]>();
  for (const [path, leads] of changed) if (isScript(path)) own.set(path, [...(own.get(path) ?? []), leads]);
  const all = new Set([...own.keys(), ...(base === undefined ? [] : referencesOf(base).scripts.keys())]);
  // Most projects have none.
  if (![...all].some((path) => referrerOf(tables, path) !== undefined)) return;
  const known = base === undefined ? [] : scriptsTowards(base, [...own.keys()], asked);
  const names = [...new Set([...own.keys(), ...known])];
  let left = [...names.filter((path) => !isDeleted(path)), ...names.filter(isDeleted)];
  for (let round = 0; round < MAX_SCRIPT_STEPS && left.length > 0; round += 1) {
    const reached = new Set(left.filter((path) => referrerOf(tables, path) !== undefined));
    for (const path of reached) {
      const before = base === undefined ? undefined : leadsOfScript(base, path);
      for (const leads of [...(before === undefined ? [] : [before]), ...(own.get(path) ?? [])])
        addLeads(tables, path, leads);
    }
    left = left.filter((path) => !reached.has(path));
  }
}

/**
 * The scripts of the base, in its order, that may lead to one of the paths in MAX_SCRIPT_STEPS steps: with all others left
 * out the answer is the same. `own`: scripts that changed.
 */
function scriptsTowards(base: BaseReader, own: readonly string[], paths: readonly string[]): string[] {
  const { scripts } = referencesOf(base);
  const towards = new Set<string>();
  let asked = [...paths];
  for (let step = 0; step < MAX_SCRIPT_STEPS && asked.length > 0; step += 1) {
    const mentions = mentionsAny(asked);
    asked = step === 0 ? [...own] : [];
    for (const path of scripts.keys())
      if (!towards.has(path) && mentions(scriptText(base, path))) {
        towards.add(path);
        asked.push(path);
      }
  }
  return [...scripts.keys()].filter((path) => towards.has(path));
}

const isScript = (path: string): boolean => /\.(ba|z|da|k)?sh$/i.test(path);
