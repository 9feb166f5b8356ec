import type { ChangeOutcome } from '../../types/session.ts';
import { togetherReason } from './keep-together.ts';
import { type Looking, lookAgain } from './look-again.ts';
import type { Step } from './steps.ts';

/** Which steps are about files of one thing: all of them are done, or none. */
export interface WholeThings {
  /** The name of the thing that a path is a file of. */
  thingOf(path: string): string | undefined;
  /** Why the thing that a path is a file of must not be replaced now. */
  whyInUse(path: string): string | undefined;
}

/** The things in several files while their steps are done. */
export class WholeSteps {
  private readonly steps = new Map<string, Step[]>();
  /** By thing: why none of its steps is done, as a reason for a path; undefined where they are done. */
  private readonly checked = new Map<string, ((path: string) => string) | undefined>();
  private readonly begun = new Set<string>();

  private readonly things: WholeThings;
  private readonly looking: Looking;

  constructor(all: readonly Step[], things: WholeThings, looking: Looking) {
    this.things = things;
    this.looking = looking;
    for (const step of all) {
      const thing = things.thingOf(step.path);
      if (thing === undefined) continue;
      const known = this.steps.get(thing);
      if (known === undefined) this.steps.set(thing, [step]);
      else known.push(step);
    }
  }

  note({ path }: Step, { verdict }: ChangeOutcome): void {
    const thing = this.things.thingOf(path);
    if (thing === undefined) return;
    if (verdict === 'applied') this.begun.add(thing);
    else if (!this.begun.has(thing) && this.checked.get(thing) === undefined)
      this.checked.set(thing, () => togetherReason(path));
  }

  hasBegun({ path }: Step): boolean {
    return this.begun.has(this.things.thingOf(path) ?? '');
  }

  /**
   * Why a step must not be done. All files of its thing are compared with the host before the first of them is written, and
   * again before the first of them is changed (`isCommitted`). RACE: as for each path, a program can still open or change
   * them between this check and the last step.
   */
  reasonAgainst({ path }: Step, isCommitted: boolean): string | undefined {
    const thing = this.things.thingOf(path);
    if (thing === undefined || this.begun.has(thing)) return undefined;
    if (!this.checked.has(thing) || (isCommitted && this.checked.get(thing) === undefined)) {
      const changed = (this.steps.get(thing) ?? []).find((step) => lookAgain(step, this.looking) === 'changed');
      const why = changed === undefined ? this.things.whyInUse(path) : undefined;
      const changedReason = (other: string): string =>
        changed?.path === other ? 'changed on the host while applying' : togetherReason(changed?.path ?? other);
      this.checked.set(thing, changed === undefined ? (why === undefined ? undefined : () => why) : changedReason);
    }
    return this.checked.get(thing)?.(path);
  }
}
