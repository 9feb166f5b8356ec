import { foldersAbove } from '../../core/text/path.ts';
import type { FileSet } from '../../core/types/change/file-set.ts';
import type { Rename } from '../../core/types/entry.ts';
import type { Decision, ReviewItem } from '../../core/types/review.ts';
import { fileSets, isScratchMember } from './file-sets.ts';

/**
 * Groups changes into what is decided at once: the two names of a rename; a folder that became something else, with all
 * that was in it; a file that became a folder, with what is in that; a replaced file, with the withheld file that has its
 * content; the files of one thing, as a database with its log. Everything that such groups share makes one of them. Pure.
 * Every way of choosing goes through these decisions.
 */
export function groupDecisions(items: readonly ReviewItem[], renames: readonly Rename[]): Decision[] {
  const at = new Map<string, number>(items.map(({ change }, index) => [change.path, index]));
  const groups = unions(items.length);
  for (const { from, to } of renames) {
    const [old, made] = [at.get(from), at.get(to)];
    if (old !== undefined && made !== undefined) groups.join(old, made);
  }
  joinKindChanges(items, groups);
  const sets = joinFileSets(items, at, groups);
  const members = new Map<number, ReviewItem[]>();
  items.forEach((item, index) => {
    const root = groups.rootOf(index);
    const group = members.get(root);
    if (group === undefined) members.set(root, [item]);
    else group.push(item);
  });
  const order = (decision: Decision): number => at.get(decision.lead.change.path) ?? 0;
  return [...members.values()]
    .filter((group) => group.length > 1 || group[0]?.state !== 'git')
    .map((group) => decisionOf(group, sets))
    .sort((a, b) => order(a) - order(b));
}

interface Unions {
  join(a: number, b: number): void;
  rootOf(one: number): number;
}

function unions(count: number): Unions {
  const parents = Array.from({ length: count }, (_, index) => index);
  const rootOf = (one: number): number => {
    let root = one;
    while (parents[root] !== root) root = parents[root] as number;
    parents[one] = root;
    return root;
  };
  return {
    rootOf,
    join: (a, b) => {
      const [x, y] = [rootOf(a), rootOf(b)];
      parents[Math.max(x, y)] = Math.min(x, y);
    },
  };
}

/**
 * Withheld output in a folder that replaced a file stays out without anything being lost. If it has the content of that
 * file, the renames join both.
 */
function joinKindChanges(items: readonly ReviewItem[], groups: Unions): void {
  const roots = new Map<string, number>();
  items.forEach(({ change }, index) => {
    if (isFolderChange(change)) roots.set(change.path, index);
  });
  if (roots.size === 0) return;
  items.forEach((item, index) => {
    const { path, after } = item.change;
    if (after !== undefined && item.state === 'withheld') return;
    for (const folder of foldersAbove(path)) {
      const root = roots.get(folder);
      if (root !== undefined) groups.join(root, index);
    }
  });
}

/**
 * Joins the files of one thing. What is ignored and not needed is not joined: it stays out without damage. Returns the set of
 * each joined path.
 */
function joinFileSets(
  items: readonly ReviewItem[],
  at: ReadonlyMap<string, number>,
  groups: Unions,
): ReadonlyMap<string, FileSet> {
  const files = items.filter((item) => item.state !== 'git' && isFile(item.change));
  const sets = new Map<string, FileSet>();
  for (const set of fileSets(files.map(({ change }) => change.path))) {
    const joined = set.members.filter((path) => isNeeded(items[at.get(path) as number] as ReviewItem, set));
    const [first] = joined;
    if (first === undefined || joined.length < 2) continue;
    for (const path of joined) {
      groups.join(at.get(first) as number, at.get(path) as number);
      sets.set(path, set);
    }
  }
  return sets;
}

function isFile({ before, after }: ReviewItem['change']): boolean {
  return before?.kind === 'file' || after?.kind === 'file';
}

/**
 * Whether a set is incomplete without this change. An ignored log that the session emptied or removed is not: an apply stops
 * where the host still has it.
 */
function isNeeded({ state, unignored, change }: ReviewItem, set: FileSet): boolean {
  if (state !== 'withheld' || unignored !== undefined) return true;
  return (change.after?.size ?? 0) > 0 && !isScratchMember(set, change.path);
}

function isFolderChange({ kind, before, after }: ReviewItem['change']): boolean {
  return kind === 'type' && (before?.kind === 'dir' || after?.kind === 'dir');
}

function decisionOf(items: readonly ReviewItem[], sets: ReadonlyMap<string, FileSet>): Decision {
  const set = items.flatMap(({ change }) => sets.get(change.path) ?? [])[0];
  const state = items.some((item) => item.state === 'blocked')
    ? 'blocked'
    : items.some((item) => item.state === 'withheld' || item.state === 'git')
      ? 'withheld'
      : items.some((item) => item.state === 'suspect')
        ? 'suspect'
        : 'clean';
  const isUnignored =
    state === 'withheld' &&
    items.every((item) => item.state !== 'git' && (item.state !== 'withheld' || item.unignored !== undefined));
  return { lead: leadOf(items, set), items, state, isUnignored, ...(set && { set }) };
}

/** What a question names: the folder that changed its kind, else the new name, else the main file, else the first. */
function leadOf(items: readonly ReviewItem[], set: FileSet | undefined): ReviewItem {
  const candidates = [
    items.find(({ change }) => isFolderChange(change)),
    items.find((item) => item.renamedFrom !== undefined),
    items.find((item) => item.unignored !== undefined) ?? items.find(({ change }) => change.path === set?.thing),
    items.find((item) => item.state === 'clean' || item.state === 'suspect' || item.state === 'blocked'),
  ];
  // Where the content is withheld or the target stood there before: what is created or changed names it better.
  const kept = items.find(({ change, state }) => change.after !== undefined && state !== 'withheld' && state !== 'git');
  return candidates[0] ?? candidates[1] ?? candidates[2] ?? kept ?? candidates[3] ?? (items[0] as ReviewItem);
}

/** Changes that take content from the project which the session left only under a withheld name. */
export interface HeldRemoval {
  readonly kind: 'delete' | 'replace';
  /** The deleted or replaced files. */
  readonly removed: readonly ReviewItem[];
  /** All changes that a yes applies: of a file that became a folder, also those in the folder. */
  readonly applied: readonly ReviewItem[];
  /** The withheld path that has the content. */
  readonly contentIn?: string;
}

/** What a question can take of a decision that is held back for its content; undefined for all other decisions. */
export function heldRemoval({ state, isUnignored, items, set }: Decision): HeldRemoval | undefined {
  // The content of a thing in several files is in all of them.
  if (state !== 'withheld' || isUnignored || items.length === 1 || set !== undefined) return undefined;
  const open = items.filter(({ state: own }) => own === 'clean' || own === 'suspect');
  const replaced = open.filter((item) => item.contentIn !== undefined);
  const [contentIn] = replaced.flatMap((item) => item.contentIn ?? []);
  if (contentIn !== undefined) {
    const places = new Set(replaced.map((item) => item.contentIn));
    // Everything else of the decision has to be free to be applied: a folder is replaced as a whole or not at all.
    const isWhole = items.every((item) => open.includes(item) || places.has(item.change.path));
    return isWhole ? { kind: 'replace', removed: replaced, applied: open, contentIn } : undefined;
  }
  if (items.some(({ change }) => isFolderChange(change))) return undefined;
  const removed = open.filter(({ change }) => change.kind === 'deleted');
  const hidden = items.find(({ change }) => change.after !== undefined);
  const place = hidden === undefined ? {} : { contentIn: hidden.change.path };
  return removed.length === 0 ? undefined : { kind: 'delete', removed, applied: removed, ...place };
}

/** What `--include-ignored` must name to take them, each once. */
export function unignoredPatterns(items: readonly ReviewItem[]): string[] {
  return [...new Set(items.flatMap(({ change }) => change.unignored ?? []))];
}
