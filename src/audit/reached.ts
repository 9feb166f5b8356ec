import { isJudgedByContent } from './files.ts';
import { foldPath } from './glob.ts';
import { type BaseReader, folderOf, type Hit, type Scene } from './input.ts';
import { type Leads, leadsOf, wantsBaseContent } from './referrers.ts';

/** Of those that the session made or changed, and of their bytes; what the project had is always looked at. */
const MOST_REFERRERS = 400;
const MOST_BYTES = 4 << 20;
const CODE = /\.(sh|bash|zsh|fish|py|rb|pl|php|[cm]?[jt]sx?|lua|groovy|json|rs|R)$/i;
/** A file that a folder stands for, when the folder is run or imported. */
const STANDS_FOR_FOLDER = /(^|\/)(index\.[cm]?[jt]sx?|main\.go|__main__\.py|__init__\.py|mod\.rs)$/i;

/** What a base's files lead to; it stays the same for as long as a session lasts. */
interface Known {
  readonly leads: Map<string, Leads>;
  /** Shell scripts: they are read only where something leads to them. */
  readonly scripts: string[];
  readonly ofScripts: Map<string, Leads | undefined>;
  /** How many names of the base were asked. */
  asked: number;
}
const ofBases = new WeakMap<BaseReader, Known>();

function knownOf(base: BaseReader): Known {
  const known = ofBases.get(base) ?? { leads: new Map(), scripts: [], ofScripts: new Map(), asked: 0 };
  ofBases.set(base, known);
  return known;
}

/**
 * What each file of the base leads to, name by name, undefined for most and for shell scripts: the work may be done
 * ahead of time, in pieces, while the agent works.
 */
export function* leadsOfBase(base: BaseReader): Generator<[string, Leads] | undefined> {
  const known = knownOf(base);
  yield* known.leads;
  let at = 0;
  for (const path of base.paths) {
    at += 1;
    if (at <= known.asked) continue;
    const wanted = wantsBaseContent(path);
    if (wanted && isScript(path)) known.scripts.push(path);
    const bytes = wanted && !isScript(path) ? base.read(path) : undefined;
    const leads = bytes === undefined ? undefined : leadsOf(path, bytes);
    if (leads !== undefined) known.leads.set(path, leads);
    known.asked = at;
    yield leads === undefined ? undefined : [path, leads];
  }
}

function leadsOfScript(base: BaseReader, path: string): Leads | undefined {
  const { ofScripts } = knownOf(base);
  if (ofScripts.has(path)) return ofScripts.get(path);
  const bytes = base.read(path);
  const leads = bytes === undefined ? undefined : leadsOf(path, bytes);
  ofScripts.set(path, leads);
  return leads;
}

/**
 * Changed files that a build, hook, CI or agent file of the project runs or includes by path, however they are called;
 * and those that a shell script which is reached in this way runs or includes itself. `aliases`: other paths of a file.
 */
export function reachedHits(scene: Scene, aliases: (path: string) => readonly string[]): Hit[] {
  const { base, changes } = scene.input;
  const all: [string, Leads][] = [];
  for (const one of base === undefined ? [] : leadsOfBase(base)) if (one !== undefined) all.push(one);
  let [followed, bytesFollowed] = [0, 0];
  for (const change of changes) {
    if (change.ignored === true || change.problem !== undefined || !wantsBaseContent(change.path)) continue;
    for (const entry of [change.before, followed < MOST_REFERRERS ? change.after : undefined]) {
      const bytes = scene.bytes(entry);
      if (!Buffer.isBuffer(bytes)) continue;
      const own = entry === change.after;
      if (own && bytesFollowed + bytes.length > MOST_BYTES) continue;
      const leads = leadsOf(change.path, bytes);
      if (leads === undefined) continue;
      all.push([change.path, leads]);
      if (own) [followed, bytesFollowed] = [followed + 1, bytesFollowed + bytes.length];
    }
  }
  const isGone = (path: string): boolean => scene.byPath.has(path) && scene.after(path) === undefined;
  // What goes names its files last: where something that stays names them too, that one is told.
  const standing = [...all.filter(([path]) => !isGone(path)), ...all.filter(([path]) => isGone(path))];
  const by = new Map<string, string>();
  const tables = { files: by, modules: new Map<string, string>(), folders: new Map<string, string>() };
  for (const [path, leads] of standing) if (!isScript(path)) take(tables, path, leads);
  followScripts(tables, standing, base, isGone);
  const hits: Hit[] = [];
  for (const change of changes) {
    // What stays withheld is not judged; what may be asked for after all is.
    const isWithheld = change.ignored === true && change.kind !== 'created' && change.unignored === undefined;
    if (isWithheld || (change.after ?? change.before)?.kind === 'dir') continue;
    const named = [change.path, ...aliases(change.path)]
      .map((name) => reachedBy(tables, name))
      .find((one) => one !== undefined && one !== change.path);
    // It goes together with what ran it.
    if (change.after === undefined && named !== undefined && isGone(named)) continue;
    // Pinned versions in a list of requirements, say: the rule for such files knows what in them counts.
    if (named === undefined || isJudgedByContent(change.path, named)) continue;
    hits.push({
      rule: 'reached',
      severity: 'suspect',
      path: change.path,
      title: 'A file that the project runs by name',
      why: 'A build, hook, CI or agent file that you have runs or includes it.',
      detail: named,
    });
  }
  return hits;
}

/** A script leads on only where something leads to it: three steps far. */
function followScripts(
  tables: Tables,
  changed: readonly (readonly [string, Leads])[],
  base: BaseReader | undefined,
  isGone: (path: string) => boolean,
): void {
  const own = new Map<string, Leads[]>();
  for (const [path, leads] of changed) if (isScript(path)) own.set(path, [...(own.get(path) ?? []), leads]);
  const known = base === undefined ? [] : knownOf(base).scripts;
  const names = [...new Set([...own.keys(), ...known])];
  let left = [...names.filter((path) => !isGone(path)), ...names.filter(isGone)];
  for (let round = 0; round < 3 && left.length > 0; round += 1) {
    const reached = new Set(left.filter((path) => reachedBy(tables, path) !== undefined));
    for (const path of reached) {
      const before = base === undefined ? undefined : leadsOfScript(base, path);
      for (const leads of [...(before === undefined ? [] : [before]), ...(own.get(path) ?? [])])
        take(tables, path, leads);
    }
    left = left.filter((path) => !reached.has(path));
  }
}

type Tables = Readonly<Record<keyof Leads, Map<string, string>>>;

const isScript = (path: string): boolean => /\.(ba|z|da|k)?sh$/i.test(path);

function take(tables: Tables, path: string, leads: Leads): void {
  for (const kind of ['files', 'modules', 'folders'] as const)
    for (const word of leads[kind]) if (!tables[kind].has(word)) tables[kind].set(word, path);
}

/** The file that leads to this path, if any. */
function reachedBy(tables: Tables, path: string): string | undefined {
  const folded = foldPath(path);
  const exact = tables.files.get(folded);
  if (exact !== undefined) return exact;
  const bare = CODE.test(folded) ? folded.replace(/\.[^./]+$/, '') : undefined;
  const module = bare === undefined ? undefined : tables.modules.get(bare);
  if (module !== undefined) return module;
  const folder = folderOf(folded);
  if (folder === '') return undefined;
  if (STANDS_FOR_FOLDER.test(folded)) {
    const whole = tables.modules.get(folder);
    if (whole !== undefined) return whole;
  }
  return CODE.test(folded) || !/\.[^/]*$/.test(folded) ? tables.folders.get(folder) : undefined;
}
