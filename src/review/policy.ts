import type { Change } from '../types/entry.ts';
import type { Choice, ChosenChange, Review, ReviewItem } from '../types/review.ts';
import type { ApplyOutcome, ChangeOutcome } from '../types/session.ts';
import { matcher } from './build-review.ts';

export interface PathFilter {
  /** Only what one of these matches; empty: everything. */
  readonly only: readonly string[];
  readonly skip: readonly string[];
}

/**
 * What `--auto-apply` and `apply --yes` choose: what is clean. Suspect changes are left, blocked ones never chosen,
 * and a mass deletion holds everything back, for a person to decide.
 */
export function chooseClean(review: Review, filter: PathFilter = { only: [], skip: [] }): Choice {
  const passes = pathFilter(filter);
  return chooseWhole(review, (item) => {
    if (!passes(item.change.path)) return { verdict: 'skipped', why: 'not selected' };
    if (review.massDeletion !== undefined) {
      const { deleted, of } = review.massDeletion;
      return { verdict: 'suspect', why: `the session deletes ${deleted} of ${of} entries: a person has to decide` };
    }
    return item.state === 'suspect' ? { verdict: 'suspect', why: suspectReason(item) } : 'apply';
  });
}

/** Nothing was decided: every change waits. */
export function chooseNothing(review: Review): Choice {
  return { ...choose(review, () => ({ verdict: 'skipped', why: 'kept for later' })), decided: false };
}

type Picked = 'apply' | { readonly content: Buffer } | LeftOut;
type LeftOut = { readonly verdict: ChangeOutcome['verdict']; readonly why: string };

/** A choice made by asking `pick` for each item that may be chosen (clean or suspect). Pure but for `pick`. */
export function choose(review: Review, pick: (item: ReviewItem) => Picked): Choice {
  const chosen: ChosenChange[] = [];
  const left: ChangeOutcome[] = [];
  for (const item of review.items) {
    const { path } = item.change;
    if (item.state === 'git') continue;
    if (item.state === 'blocked') left.push({ path, verdict: 'blocked', why: blockedReason(item) });
    else if (item.state === 'withheld') left.push({ path, verdict: 'withheld', why: 'ignored by the project' });
    else {
      const picked = pick(item);
      const mark = item.state === 'suspect' ? { suspect: true } : {};
      if (picked === 'apply') chosen.push({ change: item.change, ...mark });
      else if ('content' in picked) chosen.push({ change: item.change, content: picked.content, ...mark });
      else left.push({ path, ...picked });
    }
  }
  const kept = keptFolders(chosen, left);
  const folders = review.items.filter(
    ({ change, state }) => isSelectable({ state }) && change.kind === 'created' && change.after?.kind === 'dir',
  );
  return {
    decided: true,
    discard: false,
    chosen: chosen.filter(({ change }) => !kept.has(change.path)),
    left: [...left, ...kept.values()],
    folders: folders.map(({ change }) => change),
  };
}

/**
 * As `choose`, but what is held back under its new name also stays under its old one: a rename whose second half
 * waits would take a file from the project.
 */
export function chooseWhole(review: Review, pick: (item: ReviewItem) => Picked): Choice {
  const isHeld = (item: ReviewItem): boolean => {
    if (item.state !== 'suspect') return item.state === 'blocked';
    const picked = pick(item);
    return picked !== 'apply' && 'verdict' in picked && picked.verdict === 'suspect';
  };
  const renamed = review.items.filter((item) => item.renamedFrom !== undefined && isHeld(item));
  const stays = new Map(renamed.map(({ renamedFrom, change }) => [renamedFrom, change.path]));
  return choose(review, (item) => {
    const picked = pick(item);
    const to = stays.get(item.change.path);
    if (to === undefined || picked !== 'apply') return picked;
    return { verdict: 'suspect', why: `its new name is held back: ${to}` };
  });
}

/** Folders that were chosen to go and cannot: something in them stays. They wait as that does. */
function keptFolders(chosen: readonly ChosenChange[], left: readonly ChangeOutcome[]): Map<string, ChangeOutcome> {
  const goes = (change: Change): boolean => isDeletion(change) && change.before?.kind === 'dir';
  const folders = new Map(chosen.flatMap(({ change }) => (goes(change) ? [[change.path as string, change]] : [])));
  const kept = new Map<string, ChangeOutcome>();
  for (const { path, verdict } of left) {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const folder = folders.get(path.slice(0, at));
      if (folder !== undefined) kept.set(folder.path, { path: folder.path, verdict, why: `${path} in it stays` });
    }
  }
  return kept;
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

function blockedReason(item: ReviewItem): string {
  return item.change.problem ?? item.findings.find((finding) => finding.severity === 'blocked')?.why ?? 'blocked';
}

function suspectReason(item: ReviewItem): string {
  return item.findings.find((finding) => finding.severity === 'suspect')?.why ?? 'suspect';
}

/** What an apply means for the exit status: the numbers that session/exit-status.ts asks for. */
export function outcomeCounts(outcome: ApplyOutcome): { conflicts: number; heldBack: number; waiting: number } {
  const all = [...outcome.changes, ...(outcome.claude ?? [])];
  const count = (...verdicts: ChangeOutcome['verdict'][]): number =>
    all.filter((change) => verdicts.includes(change.verdict)).length;
  return {
    conflicts: count('conflict', 'failed'),
    heldBack: count('blocked', 'suspect'),
    waiting: count('conflict', 'failed', 'suspect', 'skipped'),
  };
}

/** Deletions, as the group of their own that they are in every question. */
export function isDeletion(change: Change): boolean {
  return change.kind === 'deleted';
}

/** Whether a session left commits: its branches, or where its HEAD was, are not as they were. Display only. */
export function madeCommits(review: Review): boolean {
  return review.items.some(
    ({ change }) =>
      change.inGit === true && change.after !== undefined && /^\.git\/(refs\/heads\/|logs\/HEAD$)/.test(change.path),
  );
}
