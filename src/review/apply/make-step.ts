import type { Entry } from '../../core/types/entry.ts';
import type { ChosenChange } from '../../core/types/review.ts';
import type { ChangeOutcome, ChangeVerdict } from '../../core/types/session.ts';
import { IN_PART } from '../choices/file-progress.ts';
import type { HostState } from './disk/host/host-entry.ts';
import type { Step, Target } from './disk/steps/steps.ts';

/** What one chosen change leads to: a step to be done, or the outcome without one. */
export type StepOrOutcome = { readonly outcome: ChangeOutcome } | { readonly step: Step };

/** What a step leaves of this entry; with `isRestore` also its time and owner, which undo puts back. */
export function targetOf(entry: Entry | HostState, mode: number, isRestore = false): Target {
  const owned = entry as Partial<HostState>;
  return {
    kind: entry.kind as Target['kind'],
    mode: entry.kind === 'symlink' ? 0o777 : mode,
    ...(entry.digest === undefined ? {} : { digest: entry.digest, size: entry.size }),
    ...(entry.target === undefined ? {} : { target: entry.target }),
    ...(isRestore ? { mtimeNs: entry.mtimeNs } : {}),
    ...(isRestore && owned.uid !== undefined && owned.gid !== undefined ? { uid: owned.uid, gid: owned.gid } : {}),
  };
}

/** The step from what is at the path to `post`; a removal without. `mergeNote` is reported once it is done. */
export function stepOf(
  one: ChosenChange,
  pre: HostState | undefined,
  post: Target | undefined,
  mergeNote?: string,
): StepOrOutcome {
  const { path } = one.change;
  const note = isInPart(one, post) ? IN_PART : mergeNote;
  const { suspect, together } = one;
  const order = { ...(suspect ? { late: true } : {}), ...(together === undefined ? {} : { together }) };
  return { step: { path, ...(pre && { pre }), ...(post && { post }), ...order, ...(note && { note }) } };
}

/** Whether only some hunks of a file were chosen, and the file does not have the others yet. */
function isInPart({ change, content }: ChosenChange, result: { readonly digest?: string } | undefined): boolean {
  return content !== undefined && result?.digest !== change.after?.digest;
}

/** The project has what was chosen; the rest of a file of which only some hunks were chosen is left. */
export function alreadyThere(one: ChosenChange, host: HostState | undefined): { readonly outcome: ChangeOutcome } {
  return isInPart(one, host) ? left(one, 'applied', IN_PART) : left(one, 'same', 'the host has it already');
}

/** A change that is not applied, and why. */
export function left(
  { change }: ChosenChange,
  verdict: ChangeVerdict,
  why: string,
): { readonly outcome: ChangeOutcome } {
  return { outcome: { path: change.path, verdict, why } };
}
