import { fingerprintHost, type HostState, readHost } from '../host/host-entry.ts';
import type { HostWalker } from '../host/host-path.ts';
import { isDone, isUntouched, type Step } from './steps.ts';

export interface RecheckOptions {
  readonly walker: HostWalker;
  /** The steps are those of an earlier process that was killed: a half-done state is its work, not the user's. */
  readonly resumed: boolean;
}

/**
 * Compares the host with what the step expects. RACE: a writer on the host can still change the path between this check
 * and the rename; the kernel has no rename-if-unchanged.
 */
export function recheckStep(step: Step, { walker, resumed }: RecheckOptions): 'go' | 'done' | 'changed' | 'cleared' {
  if (!resumed && step.pre !== undefined && step.pre.fingerprint === fingerprintHost(walker, step.path)) return 'go';
  const now = readHost(walker, step.path);
  if (isUntouched(step, now)) return isDone(step, now) ? 'done' : 'go';
  return resumed ? recheckHalfDone(step, now) : 'changed';
}

function recheckHalfDone(step: Step, now: HostState | undefined): 'go' | 'done' | 'changed' | 'cleared' {
  if (isDone(step, now)) return 'done';
  // The entry of another kind was removed, and the process was killed before it made the new one.
  if (now === undefined && step.post !== undefined && step.pre?.kind !== step.post.kind) return 'cleared';
  if (now?.kind === 'dir' && step.post?.kind === 'dir') return 'go';
  if (now?.kind === 'file' && step.post?.kind === 'file') {
    if (step.inPlace) return 'go';
    // The content is new and the mode is not: the two are set one after the other in place.
    if (now.digest === step.post.digest) return 'go';
  }
  return 'changed';
}

/** A folder that an earlier process made without setting its mode is not made again. */
export function asFound(step: Step, { walker, resumed }: RecheckOptions): Step {
  if (!resumed || step.pre !== undefined || step.post?.kind !== 'dir') return step;
  const now = readHost(walker, step.path);
  return now === undefined ? step : { ...step, pre: now };
}
