import { nameOfPath } from '../core/text/path.ts';
import type { Change, Entry } from '../core/types/entry.ts';
import { expandBraces, type FittingLists, foldPath, indexFiles, matcherOf, splitGlobs } from './formats/glob.ts';
import { lazy } from './formats/lazy.ts';
import { wasTooMuch } from './formats/structured.ts';
import { TOO_MUCH } from './general-rules/content.ts';
import { LINK_MANY_NAMES, LINK_WATCHED_NAME } from './general-rules/entries.ts';
import { type Hit, hitOf } from './hit.ts';
import { LONGEST_TEXT, type Scene } from './input.ts';
import { differInCommentsOnly } from './judges/comments.ts';
import { isHarmlessChange } from './judges/harmless-change.ts';
import { judge } from './judges/judge.ts';
import { isProgramName } from './judges/program.ts';
import { closerLooks, type JudgedText, type Rule, reportsAny, SUSPECT_FILE } from './judges/rule.ts';
import { MOST_ALIASES } from './links.ts';
import { FILE_RULES } from './rules/all.ts';

const listsFor = lazy(() => indexFiles(FILE_RULES.map(({ files }) => files)));
/** Folders that rules watch: a link of that name puts other content under it. */
const watched = lazy(
  () =>
    new Set(
      FILE_RULES.flatMap((rule) => rule.files.map((glob) => /^(\.[\w-]+)\//.exec(glob)?.[1] ?? '')).filter(
        (name) => name !== '',
      ),
    ),
);

/** Findings of the rules about files of certain names. `aliases`: other paths of the change, through links. */
export function fileHits(scene: Scene, change: Change, aliases: readonly string[]): Hit[] {
  const hits: Hit[] = [];
  const names = [change.path as string, ...aliases];
  const manyAliases: Hit[] = aliases.length > MOST_ALIASES ? [hitOf(LINK_MANY_NAMES, change.path)] : [];
  const folded = names.map(foldPath);
  if ((change.after ?? change.before)?.kind === 'dir') return hits;
  const { fits, rules } = rulesFor(folded);
  // Most files match no rule: their content is not read here.
  if (rules.size === 0) return [...watchedLink(change), ...manyAliases];
  const before = judgedText(scene, change.before);
  const after = judgedText(scene, change.after);
  for (const index of rules) {
    const rule = FILE_RULES[index] as Rule;
    if (change.after === undefined && rule.harmless?.includes('deletion') === true) continue;
    const at = fits.findIndex(({ fitting }) => fitting.has(index));
    const alias = at > 0 ? `through ${names[at]}` : undefined;
    const path = folded[at] as string;
    const seen = sees(scene, rule, change, { before, after, path, hasOtherNames: names.length > 1 });
    if (seen === undefined) continue;
    const caseOnly = scene.input.hostCase === 'sensitive' && fitsByCaseOnly(rule, names[at] as string);
    hits.push({
      rule: rule.id,
      severity: caseOnly ? 'note' : rule.severity,
      path: change.path,
      title: rule.title ?? titleOf(change),
      why: rule.why,
      ...(seen === '' && alias === undefined ? {} : { detail: [alias, seen].filter(Boolean).join(': ') }),
    });
  }
  return [...hits, ...tooMuchHits(change, after, hits), ...watchedLink(change), ...manyAliases];
}

/** A file that a rule parses must not become quiet because it holds too much. */
function tooMuchHits({ path }: Change, after: Judged, hits: readonly Hit[]): Hit[] {
  if (typeof after !== 'string' || !wasTooMuch(after)) return [];
  return hits.some(({ detail }) => detail?.includes('too much to judge') === true) ? [] : [hitOf(TOO_MUCH, path)];
}

interface FittingRules {
  /** For each name the rules that name it, and those that do not leave it out. By number in FILE_RULES. */
  readonly fits: readonly FittingLists[];
  readonly rules: ReadonlySet<number>;
}

function rulesFor(folded: readonly string[]): FittingRules {
  const fits = folded.map((name) => listsFor()(name));
  const fitting = new Set(fits.flatMap((fit) => [...fit.fitting]));
  const known = fits.some(({ named }) => isKnown(named));
  return { fits, rules: new Set([...fitting].filter((rule) => !known || FILE_RULES[rule]?.lastResort !== true)) };
}

/** The rules that judge a file of these names: its path, and others that links give it. */
export function fileRulesOf(names: readonly string[]): Rule[] {
  return [...rulesFor(names.map(foldPath)).rules].map((rule) => FILE_RULES[rule] as Rule);
}

/** Whether a rule judges every file, or files that no other rule knows: it says nothing about the type of a file. */
const isForUnknown = (rule: Rule): boolean => rule.lastResort === true || rule.files.includes('*');

/** Whether one of these rules says something about the type of a file. */
const isKnown = (rules: ReadonlySet<number>): boolean =>
  [...rules].some((rule) => !isForUnknown(FILE_RULES[rule] as Rule));

const DATA = /\.(txt|in|json[c5]?|toml|ya?ml|lock|xml|ini|cfg)$/i;

/**
 * Whether a rule that reads the content of such data files has judged it already. A file that a list of tasks includes
 * is an exception: its name says nothing about it.
 */
export function isJudgedByContent(path: string, by: string): boolean {
  if (/\.ya?ml$/i.test(path) && /(^|\/)(\.gitlab-ci|azure-pipelines[^/]*|taskfile(\.dist)?)\.ya?ml$/i.test(by))
    return false;
  return DATA.test(path) && isWatchedPath(path);
}

/** Whether a rule knows files of this name, so that a tool may run them or take its settings from them. */
export function isWatchedPath(path: string): boolean {
  return isKnown(listsFor()(foldPath(path)).named);
}

/** By rule: whether one of its globs for programs matches a name. */
const programNames = new Map<Rule, (path: string) => boolean>();

/** Whether a rule expects data under a name, so that a program there is none of the files that it is for. */
function expectsData(rule: Rule, path: string): boolean {
  if (isForUnknown(rule) || closerLooks(rule).length === 0) return false;
  const known =
    programNames.get(rule) ?? matcherOf(splitGlobs(rule.files).named.flatMap(expandBraces).filter(isProgramName));
  programNames.set(rule, known);
  return !known(path);
}

/** Whether a name matches a plain glob of the rule only in another letter case. */
function fitsByCaseOnly(rule: Rule, name: string): boolean {
  const last = nameOfPath(name);
  const words = splitGlobs(rule.files)
    .named.filter((glob) => !/[*?{]/.test(glob))
    .map((glob) => nameOfPath(glob));
  return !words.includes(last) && words.some((word) => word.toLowerCase() === last.toLowerCase());
}

function titleOf({ kind }: Change): string {
  return `${SUSPECT_FILE} ${kind === 'created' || kind === 'deleted' ? kind : 'modified'}`;
}

/** What counts in a change: undefined when nothing does, '' when any change does. */
function sees(
  scene: Scene,
  rule: Rule,
  change: Change,
  {
    before,
    after,
    path,
    hasOtherNames,
  }: { readonly before: Judged; readonly after: Judged; readonly path: string; readonly hasOtherNames: boolean },
): string | undefined {
  const { after: entry } = change;
  const isAny = reportsAny(rule);
  if (entry?.kind === 'symlink') return rule.files.includes('*') ? undefined : `a link to ${entry.target ?? '?'}`;
  if (entry !== undefined && entry.kind !== 'file') return undefined;
  // The rules unreadable and text-long report such files, so rules for every file do not.
  if (before === UNREADABLE || after === UNREADABLE)
    return rule.files.includes('*') ? undefined : 'its content cannot be judged';
  if (after?.slice(0, NUL_SEARCH_CHARS).includes('\0') === true && !isForUnknown(rule) && !isAny)
    return 'not plain text, so it cannot be judged';
  if (change.kind === 'mode') return isAny ? 'its mode changed' : undefined;
  const text: JudgedText = {
    path,
    before,
    after,
    change,
    added: () => scene.added(change),
    deleted: () => scene.deleted(change),
  };
  // A file with a second name is also what that name says.
  if (!hasOtherNames && isHarmlessChange(rule, text)) return undefined;
  const seen = judge(rule, text).filter((one) => one !== '');
  const list = seen.length > 3 ? [...seen.slice(0, 3), `and ${seen.length - 3} more`] : seen;
  if (seen.length > 0) return list.join('; ');
  if (before === undefined && after !== undefined && isProgramName(path) && expectsData(rule, path)) return 'a program';
  if (rule.look.some(({ kind }) => kind === 'content')) return '';
  if (!isAny) return undefined;
  if (
    rule.harmless?.includes('comments') === true &&
    before !== undefined &&
    after !== undefined &&
    differInCommentsOnly(path, before, after)
  )
    return undefined;
  if (after === undefined) return 'what it set no longer applies';
  return closerLooks(rule).length > 0 ? 'nothing in it that is known to run something' : '';
}

/** So many characters of a file are searched for a NUL: tools read UTF-16, the rules do not. */
const NUL_SEARCH_CHARS = 65_536;
const UNREADABLE = Symbol('content that cannot be judged');
type Judged = string | typeof UNREADABLE | undefined;

function judgedText(scene: Scene, entry: Entry | undefined): Judged {
  const bytes = scene.bytes(entry);
  if (bytes === undefined) return undefined;
  return bytes === 'unreadable' || bytes.length > LONGEST_TEXT ? UNREADABLE : scene.text(entry);
}

function watchedLink(change: Change): Hit[] {
  if (change.after?.kind !== 'symlink') return [];
  const name = foldPath(nameOfPath(change.path));
  return watched().has(name) ? [hitOf(LINK_WATCHED_NAME, change.path, { detail: change.after.target ?? '' })] : [];
}
