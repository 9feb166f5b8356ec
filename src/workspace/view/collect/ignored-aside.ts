import { isDotGitName } from '../../../core/git/names.ts';
import { turnsOf } from '../../../core/host/processes/turns.ts';
import { pathPattern } from '../../../core/text/patterns/path-pattern.ts';
import type { ListedEntry } from '../../../core/types/collector.ts';
import type { WithheldGroup } from '../../../core/types/entry.ts';
import { askedBack, baseIgnoreRules, IgnoredOutput, type IgnoreRules } from '../../collector/ignored.ts';
import { withMadeOutput } from '../made-output.ts';
import { sessionIgnoreRules } from '../session-ignores.ts';
import type { CollectChangesOptions } from './collect-options.ts';
import type { ComparedEntry } from './compare-layer-to-base.ts';

/** A touched path whose content is to be frozen. */
export interface Wanted extends ComparedEntry {
  readonly ignored: boolean;
  /** As Change.unignored. */
  readonly unignored?: string;
}

/** The changes that come back, and those that an ignore rule withholds. */
export interface SeparatedChanges {
  readonly wanted: readonly Wanted[];
  readonly withheld: readonly WithheldGroup[];
  /** New and changed files, links and folders that are withheld. */
  readonly hidden: HiddenFiles;
  /** Something was deleted or replaced that may be among the withheld files. */
  readonly isMoved: boolean;
}

/** By path. */
export type HiddenFiles = ReadonlyMap<string, Wanted>;

/** Ignored files that the project has are named one by one up to here. */
const IGNORED_NAMED_MAX = 1000;
/** Files that the session un-ignores are frozen one by one up to here; beyond it they are only counted. */
const UNIGNORED_MAX = 1000;

/**
 * New ignored output is counted by directory; ignored entries that the project has stay changes of their own, and so do
 * those that the session un-ignores by its own change of the ignore rules. The base's rules decide what is withheld.
 */
export async function setIgnoredAside(
  pairs: readonly ComparedEntry[],
  options: AsideOptions,
): Promise<SeparatedChanges> {
  const wanted: Wanted[] = [];
  const aside: Ignored[] = [];
  const rules = rulesFor(baseIgnoreRules(options.collector), options);
  const asked = askedBack(options.includeIgnored);
  const turn = turnsOf(options.signal);
  for (const pair of pairs) {
    await turn();
    const entry = (pair.after ?? pair.before) as ListedEntry;
    const directory = entry.kind === 'dir';
    const top = asked(pair.path, directory) || inGit(pair.path) ? undefined : await rules.top(pair.path, directory);
    if (top === undefined) wanted.push({ ...pair, ignored: false });
    else if (!untouched(pair)) aside.push({ pair, top });
  }
  const patterns = await unignoredPatterns(pairs, aside, options);
  const output = new IgnoredOutput();
  const hidden = new Map<string, Wanted>();
  const isMoved = wanted.some(mayBeMoved) || [...patterns.keys()].some(mayBeMoved);
  let [named, frozen] = [0, 0];
  for (const { pair, top } of aside) {
    const unignored = patterns.get(pair);
    if (unignored !== undefined && ++frozen <= UNIGNORED_MAX) {
      wanted.push({ ...pair, ignored: true, unignored });
    } else if (unignored === undefined && pair.before !== undefined && ++named <= IGNORED_NAMED_MAX) {
      wanted.push({ ...pair, ignored: true });
    } else {
      output.add(top, pair.after?.size ?? 0, unignored !== undefined);
      if (pair.after !== undefined) hidden.set(pair.path, { ...pair, ignored: true });
    }
  }
  return { wanted: wanted.sort((a, b) => (a.path < b.path ? -1 : 1)), withheld: output.groups(), hidden, isMoved };
}

type AsideOptions = Pick<CollectChangesOptions, 'collector' | 'includeIgnored' | 'hasSetup' | 'signal'>;

function rulesFor(rules: IgnoreRules, { collector, hasSetup }: AsideOptions): IgnoreRules {
  return hasSetup === true ? withMadeOutput(rules, collector) : rules;
}

interface Ignored {
  readonly pair: ComparedEntry;
  /** The topmost ignored directory that holds it, or itself. */
  readonly top: string;
}

function mayBeMoved({ path, before, after }: ComparedEntry): boolean {
  if (inGit(path)) return false;
  if (after === undefined) return before?.kind === 'file' || before?.kind === 'symlink';
  return before?.kind === 'file' && after.kind !== 'file';
}

/**
 * What `--include-ignored` must name for each entry that the session's rules no longer match: the ignored directory where
 * all of it is un-ignored, else the entry alone.
 */
async function unignoredPatterns(
  pairs: readonly ComparedEntry[],
  aside: readonly Ignored[],
  options: AsideOptions,
): Promise<ReadonlyMap<ComparedEntry, string>> {
  const changed: IgnoreRules | undefined = sessionIgnoreRules(options.collector, pairs);
  const free = new Map<ComparedEntry, string>();
  if (changed === undefined) return free;
  const rules = rulesFor(changed, options);
  const stillIgnored = new Set<string>();
  const turn = turnsOf(options.signal);
  for (const { pair, top } of aside) {
    await turn();
    const { path, after } = pair;
    if (after !== undefined && (await rules.top(path, after.kind === 'dir')) === undefined) free.set(pair, top);
    else if (after?.kind !== 'dir') stillIgnored.add(top);
  }
  for (const [pair, top] of free) free.set(pair, pathPattern(stillIgnored.has(top) ? pair.path : top));
  return free;
}

/** A withheld path, and the new folders that it is in. */
export function withNewFolders(path: string, hidden: HiddenFiles): Wanted[] {
  const found: Wanted[] = [];
  const own = hidden.get(path);
  if (own === undefined) return found;
  for (let at = path.indexOf('/'); at > 0; at = path.indexOf('/', at + 1)) {
    const folder = hidden.get(path.slice(0, at));
    if (folder !== undefined) found.push(folder);
  }
  return [...found, own];
}

/** Whether the entry is a directory that the kernel only copied up. */
export function untouched({ before, after }: ComparedEntry): boolean {
  return before?.kind === 'dir' && after?.kind === 'dir' && before.mode === after.mode && after.problem === undefined;
}

/** Whether a path is in a `.git`, or is one. */
export function inGit(path: string): boolean {
  return path.split('/').some(isDotGitName);
}
