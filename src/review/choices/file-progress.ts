import type { Review, ReviewItem } from '../../core/types/review.ts';
import type { ChangeOutcome, ChangeVerdict } from '../../core/types/session.ts';
import { isCounted } from './counts.ts';

/** How far one changed file of a session came. A rename is one file. */
export interface FileProgress {
  readonly item: ReviewItem;
  /** 'waiting': nothing was decided about it yet. */
  readonly verdict: ChangeVerdict | 'waiting';
  readonly why?: string;
}

/** Numbers of files. `total` is the sum of applied, left and blocked. */
export interface ProgressCounts {
  readonly total: number;
  /** In the project as the session left them: applied, or there already. */
  readonly applied: number;
  /** Can still be applied: not decided about, not accepted, in conflict, or failed. */
  readonly left: number;
  /** Of those that are left, files of which some hunks were applied. */
  readonly inPart: number;
  /** Never applied. */
  readonly blocked: number;
}

/** Reason next to the verdict of a file of which only some hunks were applied: the rest is left. */
export const IN_PART = 'in part';
/** The same as the reason of what is left of it. */
export const APPLIED_IN_PART = `applied ${IN_PART}`;
const ON_BRANCH = 'on branch ';
/** Reason next to the verdict of a file whose change is on a branch that `apply --branch` made. */
export const onBranch = (name: string): string => `${ON_BRANCH}${name}`;
/** Reason of a file of which only some hunks are there: the rest is left. */
export const partOnBranch = (name: string): string => `${IN_PART} ${onBranch(name)}`;
/** Whether a change was applied to a branch only, and not to the project's files. */
export function isOnBranch({ why }: Pick<FileProgress, 'why'>): boolean {
  return why?.startsWith(ON_BRANCH) === true;
}

/** Reason of a file that was applied before the session was resumed and changed it again. */
export const CHANGED_SINCE = 'changed by the session since it was applied';

/** Of two halves of a rename the one further up decides: it needs the user's attention. */
const WORST_FIRST: readonly FileProgress['verdict'][] = ['failed', 'conflict', 'suspect', 'skipped', 'waiting'];

/**
 * The files that a session changed, in path order, with what became of each; the one count of files in every view.
 * Folders, what is inside a `.git` and ignored files are not counted, except those that an apply took.
 */
export function fileProgress(review: Review, outcomes: readonly ChangeOutcome[]): readonly FileProgress[] {
  const byPath = new Map<string, ChangeOutcome>(outcomes.map((outcome) => [outcome.path, outcome]));
  const items = new Map<string, ReviewItem>(review.items.map((item) => [item.change.path, item]));
  const isTaken = (item: ReviewItem): boolean => isCounted(item) || isTakenIgnored(item, byPath);
  return review.items.filter(isTaken).map((item) => {
    const own = progressOf(item, byPath);
    const old = item.renamedFrom === undefined ? undefined : items.get(item.renamedFrom);
    if (old === undefined || own.verdict === 'blocked') return own;
    const other = progressOf(old, byPath);
    return rank(other.verdict) < rank(own.verdict) ? { ...other, item } : own;
  });
}

/** Whether an ignored file was taken: until then it is not a change of the project. */
function isTakenIgnored({ change, state }: ReviewItem, byPath: ReadonlyMap<string, ChangeOutcome>): boolean {
  const verdict = byPath.get(change.path)?.verdict;
  if (state !== 'withheld' || (change.after ?? change.before)?.kind === 'dir') return false;
  return verdict === 'applied' || verdict === 'same' || verdict === 'conflict' || verdict === 'failed';
}

export function countProgress(files: readonly FileProgress[]): ProgressCounts {
  const applied = files.filter(isApplied).length;
  const blocked = files.filter(({ verdict }) => verdict === 'blocked').length;
  const inPart = files.filter(({ why }) => why === APPLIED_IN_PART).length;
  return { total: files.length, applied, left: files.length - applied - blocked, inPart, blocked };
}

/** Whether the project has the file as the session left it. */
export function isApplied({ verdict }: Pick<FileProgress, 'verdict'>): boolean {
  return verdict === 'applied' || verdict === 'same';
}

/** What can still be applied. */
export function isLeft(file: Pick<FileProgress, 'verdict'>): boolean {
  return !isApplied(file) && file.verdict !== 'blocked';
}

/**
 * The outcomes of an earlier apply with those of a later one. Of paths that the later one does not name only what is in
 * the project counts; a file that was applied in part stays so until it is applied.
 */
export function joinOutcomes<
  T extends { readonly path: string; readonly verdict: ChangeVerdict; readonly why?: string },
>(earlier: readonly T[], later: readonly T[]): T[] {
  const named = new Set(later.map(({ path }) => path));
  const kept = earlier.filter((one) => !named.has(one.path) && isApplied(one));
  const parts = new Map(earlier.flatMap((one) => (one.why === IN_PART ? [[one.path, one]] : [])));
  const joined = later.map((one) => (isApplied(one) ? one : (parts.get(one.path) ?? one)));
  return [...kept, ...joined].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function progressOf(item: ReviewItem, byPath: ReadonlyMap<string, ChangeOutcome>): FileProgress {
  const outcome = byPath.get(item.change.path);
  if (item.state === 'blocked') return { item, verdict: 'blocked' };
  if (outcome === undefined) return { item, verdict: 'waiting' };
  const { verdict, why } = outcome;
  if (verdict === 'applied' && why === IN_PART) return { item, verdict: 'skipped', why: APPLIED_IN_PART };
  return { item, verdict, ...(why === undefined ? {} : { why }) };
}

function rank(verdict: FileProgress['verdict']): number {
  const at = WORST_FIRST.indexOf(verdict);
  return at === -1 ? WORST_FIRST.length : at;
}
