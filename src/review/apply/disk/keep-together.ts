import type { ChosenChange } from '../../../core/types/review.ts';
import type { ChangeOutcome } from '../../../core/types/session.ts';
import type { Step } from './steps/steps.ts';

/**
 * Steps without those that would remove something although the rest of its decision cannot be applied: an old name
 * stays where its new name cannot be written. Of a thing in several files (`thingOf`) every step is dropped where one
 * file cannot be applied. A dropped step becomes a conflict.
 */
export function keepTogether(
  steps: readonly Step[],
  outcomes: ChangeOutcome[],
  chosen: readonly ChosenChange[],
  thingOf: (path: string) => string | undefined = () => undefined,
): Step[] {
  const whole = withoutBrokenThings(steps, outcomes, thingOf);
  const groupOf = new Map<string, string>();
  for (const { change, together } of chosen) if (together !== undefined) groupOf.set(change.path, together);
  if (groupOf.size === 0) return whole;
  const broken = new Map<string, string>();
  for (const { path, verdict } of outcomes) {
    const group = groupOf.get(path);
    if (group !== undefined && verdict !== 'same') broken.set(group, path);
  }
  const kept: Step[] = [];
  for (const step of whole) {
    const reason = broken.get(groupOf.get(step.path) ?? '');
    if (reason === undefined || !takesAway(step)) kept.push(step);
    else outcomes.push({ path: step.path as ChangeOutcome['path'], verdict: 'conflict', why: togetherReason(reason) });
  }
  return kept;
}

/**
 * The state of decisions while their steps are done: nothing more of a decision is removed after something of it could
 * not be written, and a decision of which something was done is finished.
 */
export class BrokenDecisions {
  private readonly begun = new Set<string>();
  /** By decision: the path that could not be written. */
  private readonly paths = new Map<string, string>();

  note({ together, path }: Step, { verdict }: ChangeOutcome): void {
    if (verdict === 'applied' && together !== undefined) this.begun.add(together);
    // The first is the reason of all that is left out after it.
    if (verdict !== 'applied' && together !== undefined && !this.paths.has(together)) this.paths.set(together, path);
  }

  /** Whether something of the step's decision was done: nobody chose a folder with half of its files. */
  hasBegun({ together }: Step): boolean {
    return together !== undefined && this.begun.has(together);
  }

  /** Why a step must not be done; undefined where it may. */
  reasonAgainst(step: Step): string | undefined {
    const path = step.together === undefined ? undefined : this.paths.get(step.together);
    return path === undefined || !takesAway(step) ? undefined : togetherReason(path);
  }
}

/** A file or link that is removed, a change between folder and file, or a file that something else replaces. */
function takesAway({ pre, post }: Step): boolean {
  if (post === undefined) return true;
  return pre !== undefined && pre.kind !== post.kind && (pre.kind !== 'symlink' || post.kind === 'dir');
}

function withoutBrokenThings(
  steps: readonly Step[],
  outcomes: ChangeOutcome[],
  thingOf: (path: string) => string | undefined,
): Step[] {
  const broken = new Map<string, string>();
  for (const { path, verdict } of outcomes) {
    const thing = thingOf(path);
    if (thing !== undefined && verdict !== 'same' && !broken.has(thing)) broken.set(thing, path);
  }
  return steps.filter(({ path }) => {
    const reason = broken.get(thingOf(path) ?? '');
    if (reason !== undefined)
      outcomes.push({ path: path as ChangeOutcome['path'], verdict: 'conflict', why: togetherReason(reason) });
    return reason === undefined;
  });
}

/** Why a change is not applied: another one with which it is applied together cannot be. */
export function togetherReason(path: string): string {
  return `it is one change with ${path}, which could not be applied`;
}
