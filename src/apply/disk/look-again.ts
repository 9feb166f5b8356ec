import { fingerprintHost, type HostState, readHost } from './host-entry.ts';
import type { HostWalker } from './host-path.ts';
import { isDone, isUntouched, type Step } from './steps.ts';

export interface Looking {
  readonly walker: HostWalker;
  /** Steps of an earlier process that ended in the middle: what is half done is ours. */
  readonly resumed: boolean;
}

/**
 * The host against what the step expects. RACE: between this look and the rename a writer on the host can still slip
 * in; the kernel has no rename-if-unchanged.
 */
export function lookAgain(step: Step, { walker, resumed }: Looking): 'go' | 'done' | 'changed' | 'cleared' {
  if (!resumed && step.pre !== undefined && step.pre.fingerprint === fingerprintHost(walker, step.path)) return 'go';
  const now = readHost(walker, step.path);
  if (isUntouched(step, now)) return isDone(step, now) ? 'done' : 'go';
  return resumed ? lookAtHalf(step, now) : 'changed';
}

function lookAtHalf(step: Step, now: HostState | undefined): 'go' | 'done' | 'changed' | 'cleared' {
  if (isDone(step, now)) return 'done';
  // What stood in the way of another kind was removed, and then we ended.
  if (now === undefined && step.post !== undefined && step.pre?.kind !== step.post.kind) return 'cleared';
  if (now?.kind === 'dir' && step.post?.kind === 'dir') return 'go';
  if (now?.kind === 'file' && step.post?.kind === 'file') {
    if (step.inPlace) return 'go';
    // Content is new but its mode is not yet: only where the two are set apart.
    if (now.digest === step.post.digest) return 'go';
  }
  return 'changed';
}

/** A folder that an earlier process made, without its mode yet, is not made again. */
export function asFound(step: Step, { walker, resumed }: Looking): Step {
  if (!resumed || step.pre !== undefined || step.post?.kind !== 'dir') return step;
  const now = readHost(walker, step.path);
  return now === undefined ? step : { ...step, pre: now };
}
