import { liesBelow, type RelPath } from '../../../../core/text/path.ts';
import type { EntryKind } from '../../../../core/types/entry.ts';
import type { ChangeOutcome } from '../../../../core/types/session.ts';
import type { HostState } from '../host/host-entry.ts';

/** The entry that a step leaves at its path. */
export interface Target {
  readonly kind: Extract<EntryKind, 'file' | 'dir' | 'symlink'>;
  readonly mode: number;
  readonly digest?: string;
  readonly size?: number;
  readonly target?: string;
  /** The permission bits that the session left, where a new entry gets others: those that the user's tools give it. */
  readonly sessionMode?: number;
  /** Of a file that is written, and at an undo the time to restore; otherwise it is now. */
  readonly mtimeNs?: string;
  /** Undo: the owner to restore; otherwise that of the replaced entry. */
  readonly uid?: number;
  readonly gid?: number;
}

/** One path from its state now (`pre`) to its new state (`post`); undefined: there is nothing. JSON-ready. */
export interface Step {
  readonly path: string;
  readonly pre?: HostState;
  readonly post?: Target;
  /**
   * The existing file is overwritten: it has more names in the project, or an owner that a new file cannot be given.
   */
  readonly inPlace?: boolean;
  /** The existing file may have extended attributes or an access list to keep. */
  readonly attributes?: boolean;
  /** Where letter case is folded: the old name, which is removed, is a name of the same entry and is removed first. */
  readonly renames?: boolean;
  /** Done after all clean changes: an apply that ends in the middle never leaves the suspect half alone. */
  readonly late?: boolean;
  /** Names the decision of the step: nothing of a decision is removed after something of it could not be written. */
  readonly together?: string;
  /** Names the thing in several files that this is a file of: all of its steps are done, or none. */
  readonly thing?: string;
  /** Reported with the path once it is applied: that only some hunks were, or that conflict markers were written. */
  readonly note?: string;
}

/**
 * The steps in the order in which they are done: entries whose place is free, parents before children; then the removal
 * of entries that block others, deepest first, and what replaces them; then deletions, deepest first; then modes that
 * make a folder read-only. So the removals of a decision, and a file that a link replaces, come after its new names are
 * written.
 */
export function orderSteps(steps: readonly Step[]): Step[] {
  const replaced = new Set(steps.filter(replacesFolder).map((step) => step.path));
  const renamed = new Set(steps.filter((step) => step.renames).map((step) => foldCase(step.path)));
  const goesFirst = ({ path }: Step): boolean =>
    liesBelow(path, replaced) || renamed.has(foldCase(path)) || liesBelow(foldCase(path), renamed);
  const waits = (step: Step): boolean => replacesFolder(step) || (step.post !== undefined && goesFirst(step));
  const inTheWay: Step[] = [];
  const free: Step[] = [];
  const middle: Step[] = [];
  const late: Step[] = [];
  const links: Step[] = [];
  const deletions: Step[] = [];
  const closing: Step[] = [];
  for (const step of [...steps].sort(byPath)) {
    if (step.post === undefined) (goesFirst(step) ? inTheWay : deletions).push(step);
    else if (step.post.kind === 'dir' && (step.post.mode & 0o300) !== 0o300) {
      const open = { ...step.post, mode: step.post.mode | 0o700 };
      if (step.pre?.kind === 'dir') closing.push(step);
      else {
        (waits(step) ? middle : free).push({ ...step, post: open });
        closing.push({ ...step, pre: madeFolder(open.mode) });
      }
    } else if (replacesMovedFile(step) && !waits(step)) links.push(step);
    else (step.late ? late : waits(step) ? middle : free).push(step);
  }
  // A suspect step of a decision that also removes something: the removal has to come after it.
  const groups = new Set(inTheWay.flatMap(({ together }) => together ?? []));
  const isAwaited = (step: Step): boolean => !waits(step) && step.together !== undefined && groups.has(step.together);
  return [
    ...free,
    ...late.filter(isAwaited),
    ...inTheWay.reverse(),
    ...middle,
    ...late.filter((step) => !isAwaited(step)),
    ...links,
    ...deletions.reverse(),
    ...closing.reverse(),
  ];
}

/** A folder that an earlier step of the same run makes. */
function madeFolder(mode: number): HostState {
  return { kind: 'dir', mode, size: 0, mtimeNs: '0', uid: 0, gid: 0, nlink: 1, fingerprint: '' };
}

/** The same text for paths that a case-folding file system takes for one. */
export function foldCase(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

/** Whether a file or link takes the place of a folder. */
export function replacesFolder(step: Step): boolean {
  return step.pre?.kind === 'dir' && step.post !== undefined && step.post.kind !== 'dir';
}

/** The content of the file may be under a new name of the same decision, which is written first. */
function replacesMovedFile({ pre, post, together }: Step): boolean {
  return together !== undefined && pre?.kind === 'file' && post?.kind === 'symlink';
}

function byPath(a: Step, b: Step): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}

/** The outcome of a step that was done. */
export function appliedOutcome(step: Step): ChangeOutcome {
  return outcomeOf(step, 'applied', step.note);
}

/** The outcome of a step, with the thing in several files that it is about. */
export function outcomeOf({ path, thing }: Step, verdict: ChangeOutcome['verdict'], why?: string): ChangeOutcome {
  const own = { path: path as RelPath, verdict, ...(why !== undefined && { why }) };
  return thing === undefined ? own : { ...own, thing };
}

/** The step with the mode that the file really got, where the file system keeps no modes. */
export function withActualMode(step: Step, mode: number | undefined): Step {
  return mode === undefined || step.post === undefined ? step : { ...step, post: { ...step.post, mode } };
}

/** Whether the host is as the step would leave it. */
export function isDone(step: Step, now: HostState | undefined): boolean {
  const { post } = step;
  if (post === undefined || now === undefined) return post === undefined && now === undefined;
  if (now.kind !== post.kind) return false;
  if (post.kind === 'symlink') return now.target === post.target;
  return now.mode === post.mode && (post.kind === 'dir' || now.digest === post.digest);
}

/** Whether the host is as it was when the step was planned. */
export function isUntouched(step: Step, now: HostState | undefined): boolean {
  const { pre } = step;
  if (pre === undefined || now === undefined) return pre === undefined && now === undefined;
  if (now.kind !== pre.kind) return false;
  if (pre.kind === 'symlink') return now.target === pre.target;
  return now.mode === pre.mode && (pre.kind !== 'file' || now.digest === pre.digest);
}
