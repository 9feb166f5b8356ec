import { foldersAbove, foldersOf } from '../../core/text/path.ts';
import type { Change } from '../../core/types/entry.ts';
import type { Finding } from '../../core/types/finding.ts';
import type { Choice, ChosenChange, Decision, Review, ReviewItem } from '../../core/types/review.ts';
import type { ChangeOutcome } from '../../core/types/session.ts';
import { matcher } from './build-review.ts';
import { heldRemoval } from './decisions.ts';
import { isLeak } from './leak.ts';

export interface PathFilter {
  /** Only changes that one of these globs matches. Empty: all changes. */
  readonly only: readonly string[];
  readonly skip: readonly string[];
}

const NOT_SELECTED = 'not selected';

/**
 * The choice of `--auto-apply` and `apply --yes`: clean changes. Suspect changes and files that the session un-ignores
 * stay pending, blocked ones are never chosen, and a mass deletion holds everything back until the user decides.
 * `--only` selects a decision by the name in its question, `--skip` skips it by any of its names.
 */
export function chooseClean(review: Review, filter: PathFilter = { only: [], skip: [] }): Choice {
  const only = filter.only.length === 0 ? () => true : matcher(filter.only);
  const skip = matcher(filter.skip);
  return choose(review, ({ lead, items, state }) => {
    const { path } = lead.change;
    if (items.some(({ change }) => skip(change.path))) return { verdict: 'skipped', why: NOT_SELECTED };
    if (!only(path)) {
      const isNamed = items.some(({ change }) => only(change.path));
      return { verdict: 'skipped', why: isNamed ? `not selected: it is one change with ${path}` : NOT_SELECTED };
    }
    if (review.massDeletion !== undefined) {
      const { deleted, of } = review.massDeletion;
      return { verdict: 'suspect', why: `the session deletes ${deleted} of ${of} entries: you have to decide` };
    }
    if (state === 'withheld') return 'hold';
    return state === 'suspect' ? { verdict: 'suspect', why: suspectReason(items) } : 'apply';
  });
}

/** The choice of `--auto-apply` for a session that has a finding of {@link leakOf}: everything is held back. */
export function chooseHeld(review: Review, why: string): Choice {
  return choose(review, () => ({ verdict: 'suspect', why }));
}

/** A blocked finding that says that the session handled values of masked files. */
export function leakOf(review: Review): Finding | undefined {
  const all = [...review.items.flatMap(({ findings }) => findings), ...review.general];
  return all.find(isLeak);
}

/** No decision was made: every change stays pending. */
export function chooseNothing(review: Review): Choice {
  return { ...choose(review, () => ({ verdict: 'skipped', why: 'kept for later' })), decided: false };
}

/**
 * The choice of `y` at the question: clean changes, the suspect decisions that were accepted by name, and the answers
 * about those that are held back.
 */
export function chooseAccepted(
  review: Review,
  accepted: ReadonlySet<Decision>,
  held: ReadonlyMap<Decision, Picked>,
): Choice {
  return choose(review, (decision) => {
    if (decision.state === 'withheld') return held.get(decision) ?? 'hold';
    if (decision.state !== 'suspect' || accepted.has(decision)) return 'apply';
    return { verdict: 'suspect', why: 'not accepted' };
  });
}

/** The decisions that were selected one by one. A new folder is created if something in it was selected. */
export function chooseSelected(review: Review, picked: ReadonlyMap<Decision, Picked>): Choice {
  const isFilled = filledFolders(review);
  return choose(review, (decision) => {
    if (isFilled(decision)) return 'apply';
    return picked.get(decision) ?? (decision.state === 'withheld' ? 'hold' : LEFT);
  });
}

/** Whether a decision is a created folder with content. It gets no question where changes are selected one by one. */
export function filledFolders({ items }: Review): (decision: Decision) => boolean {
  const folders = foldersOf(items.map(({ change }) => change.path));
  return ({ items: [item, more] }) =>
    item !== undefined &&
    more === undefined &&
    isSelectable(item) &&
    isNewFolder(item.change) &&
    folders.has(item.change.path);
}

/** The answer for a change that was not selected. */
export const LEFT: Picked = { verdict: 'skipped', why: NOT_SELECTED };

/**
 * The answer for a decision. `hold`: held back by the gate. `delete`: apply its deletions or replacements (see
 * heldRemoval), although their content remains only under a withheld name. `content`: bytes for its lead, instead of the
 * session's.
 */
export type Picked = 'apply' | 'hold' | 'delete' | { readonly content: Buffer } | LeftOut;
type LeftOut = { readonly verdict: ChangeOutcome['verdict']; readonly why: string };

/**
 * The choice that `pick` makes for each decision: all of its changes are applied, or none. A change that must not be
 * chosen is not, whatever `pick` returns. Pure except for `pick`.
 */
export function choose(review: Review, pick: (decision: Decision) => Picked): Choice {
  const fates = new Map<ReviewItem, ChosenChange | ChangeOutcome>();
  for (const decision of review.decisions) {
    const picked = pick(decision);
    // Entries of a `.git` are in no list: they are never applied, and commits are imported separately.
    for (const item of decision.items) if (item.state !== 'git') fates.set(item, fateOf(item, decision, picked));
  }
  const all = review.items.flatMap((item) => fates.get(item) ?? []);
  const chosen = all.filter((fate) => 'change' in fate);
  const left = all.filter((fate) => 'verdict' in fate);
  const folders = review.items.filter(
    ({ change, state }) => state !== 'blocked' && state !== 'git' && isNewFolder(change),
  );
  const kept = keptFolders(chosen, left);
  const empty = emptyFolders(
    chosen.filter(({ change }) => !kept.has(change.path)),
    left,
    review,
  );
  return {
    decided: true,
    discard: false,
    chosen: chosen.filter(({ change }) => !kept.has(change.path) && !empty.has(change.path)),
    left: [...left, ...kept.values(), ...empty.values()],
    folders: folders.map(({ change }) => change),
  };
}

function fateOf(item: ReviewItem, decision: Decision, picked: Picked): ChosenChange | ChangeOutcome {
  const { lead, items, state, isUnignored } = decision;
  const { path } = item.change;
  const isOpen = state === 'clean' || state === 'suspect' || isUnignored;
  const takes = picked === 'apply' || (typeof picked === 'object' && 'content' in picked);
  if (takes && isOpen) {
    const content = item === lead && picked !== 'apply' ? { content: picked.content } : {};
    const suspect = item.state === 'suspect' || item.unignored === 'suspect' ? { suspect: true } : {};
    return { change: item.change, ...content, ...suspect, ...(items.length > 1 && { together: lead.change.path }) };
  }
  const removal = picked === 'delete' ? heldRemoval(decision) : undefined;
  if (removal?.applied.includes(item)) {
    const together = removal.kind === 'replace' && removal.applied.length > 1 && { together: lead.change.path };
    return { change: item.change, ...(item.state === 'suspect' && { suspect: true }), ...together };
  }
  if (item.state === 'blocked') return { path, verdict: 'blocked', why: blockedReason(item) };
  if (item.state === 'withheld' && item.unignored === undefined) {
    return { path, verdict: 'withheld', why: 'ignored by the project' };
  }
  if (typeof picked === 'object' && 'verdict' in picked) return { path, ...picked };
  return { path, verdict: 'suspect', why: heldReason(item, decision) };
}

/** Why an item that could be applied alone is held back with the rest of its decision. */
function heldReason(item: ReviewItem, { items, lead, set }: Decision): string {
  const closed = items.find((one) => one !== item && (one.state === 'blocked' || isHidden(one)));
  if (item.unignored !== undefined)
    return `the session un-ignores it: --include-ignored=${item.change.unignored} takes it`;
  if (item.contentIn !== undefined) return `its content is left only in ${item.contentIn}, which is withheld`;
  if (closed === undefined) return `it is one change with ${lead.change.path}`;
  const { path } = closed.change;
  if (set !== undefined && isHidden(closed) && closed.change.kind === 'created')
    return `it is one ${set.what} with ${path}, which is ignored: --include-ignored=${path} takes both`;
  if (item.change.kind !== 'deleted' || set !== undefined) return `it is one change with ${path}, which is held back`;
  return closed.state === 'blocked'
    ? `its new name is held back: ${path}`
    : `its content is left only in ${path}, which is withheld`;
}

function isHidden({ state }: ReviewItem): boolean {
  return state === 'withheld' || state === 'git';
}

/** Folders that were chosen for removal and must stay, because an entry in them stays. They get the verdict of that entry. */
function keptFolders(chosen: readonly ChosenChange[], left: readonly ChangeOutcome[]): Map<string, ChangeOutcome> {
  const removes = (change: Change): boolean => isDeletion(change) && change.before?.kind === 'dir';
  const folders = new Map(chosen.flatMap(({ change }) => (removes(change) ? [[change.path as string, change]] : [])));
  const kept = new Map<string, ChangeOutcome>();
  for (const { path, verdict } of left) {
    for (const above of foldersAbove(path)) {
      const folder = folders.get(above);
      if (folder !== undefined) kept.set(folder.path, { path: folder.path, verdict, why: `${path} in it stays` });
    }
  }
  return kept;
}

const MOST_WAITING: readonly ChangeOutcome['verdict'][] = ['suspect', 'skipped', 'blocked', 'withheld'];

/** New folders with content of which nothing was chosen. They are not created either. */
function emptyFolders(
  chosen: readonly ChosenChange[],
  left: readonly ChangeOutcome[],
  { withheld }: Review,
): Map<string, ChangeOutcome> {
  const folders = new Map(
    chosen.flatMap((one) => (isNewFolder(one.change) ? [[one.change.path as string, one.change]] : [])),
  );
  const filled = new Set<string>();
  for (const { change } of chosen) {
    if (change.after !== undefined && !isNewFolder(change))
      for (const above of foldersAbove(change.path)) {
        if (filled.has(above)) break;
        filled.add(above);
      }
  }
  const empty = new Map<string, ChangeOutcome>();
  const note = (path: string, verdict: ChangeOutcome['verdict']): void => {
    for (const above of foldersAbove(path)) {
      const folder = folders.get(above);
      if (folder === undefined || filled.has(above)) continue;
      const known = empty.get(above);
      const isWorse = known === undefined || MOST_WAITING.indexOf(verdict) < MOST_WAITING.indexOf(known.verdict);
      if (isWorse) empty.set(above, { path: folder.path, verdict, why: 'nothing in it was chosen' });
    }
  };
  for (const { path, verdict } of left) note(path, verdict);
  for (const { directory } of withheld) note(directory, 'withheld');
  return empty;
}

function isNewFolder({ kind, after }: Change): boolean {
  return kind === 'created' && after?.kind === 'dir';
}

/** A predicate on paths from --only and --skip. */
export function pathFilter(filter: PathFilter): (path: string) => boolean {
  const only = filter.only.length === 0 ? () => true : matcher(filter.only);
  const skip = matcher(filter.skip);
  return (path) => only(path) && !skip(path);
}

/** Whether an item can be chosen at all. */
export function isSelectable(item: Pick<ReviewItem, 'state'>): boolean {
  return item.state === 'clean' || item.state === 'suspect';
}

/** Why a blocked change is never applied. */
export function blockedReason(item: ReviewItem): string {
  return item.change.problem ?? item.findings.find((finding) => finding.severity === 'blocked')?.why ?? 'blocked';
}

function suspectReason(items: readonly ReviewItem[]): string {
  const findings = items.flatMap((item) => (item.state === 'suspect' ? item.findings : []));
  return findings.find((finding) => finding.severity === 'suspect')?.why ?? 'suspect';
}

/** Whether a change is a deletion. Every question treats deletions as a separate group. */
export function isDeletion(change: Change): boolean {
  return change.kind === 'deleted';
}

/**
 * Whether a session made commits: as listed at its end, or else by what it changed. A checkout or a new branch makes none.
 * Display only.
 */
export function madeCommits({ commits, items }: Review): boolean {
  if (commits !== undefined) return commits.length > 0;
  const changes = items.map(({ change }) => change);
  return touchesBranches(changes) && changes.some(({ inGit, path }) => inGit === true && OBJECT.test(path));
}

/** Whether branches, HEAD or its log changed, in any repository of the project. An agent can forge this. */
export function touchesBranches(changes: readonly Change[]): boolean {
  return changes.some(({ inGit, after, path }) => inGit === true && after !== undefined && BRANCHES.test(path));
}

const BRANCHES = /(^|\/)\.git\/(modules\/.+\/)?(refs\/heads\/|reftable\/|packed-refs$|HEAD$|logs\/HEAD$)/;
const OBJECT = /(^|\/)\.git\/(modules\/.+\/)?objects\/([0-9a-f]{2}\/[0-9a-f]|pack\/.)/;
