import type { ChangeOutcome } from '../../../core/types/session.ts';
import { togetherReason } from './keep-together.ts';
import { type RecheckOptions, recheckStep } from './steps/recheck-step.ts';
import type { Step } from './steps/steps.ts';

/** Why the thing in several files that a path is a file of must not be replaced now; undefined where it may. */
export type WhyInUse = (path: string) => string | undefined;

/** The things in several files while their steps are done: all steps of a thing, or none. */
export class WholeSteps {
  readonly #steps = new Map<string, Map<number, Step>>();
  /** By thing: why none of its steps is done, as a reason for a path; undefined where they are done. */
  readonly #checked = new Map<string, ((path: string) => string) | undefined>();
  readonly #begun = new Set<string>();
  /** Things of which one step was done and another one could not be: by thing, the path of the latter. */
  readonly #broken = new Map<string, string>();
  readonly #looking: RecheckOptions;
  readonly #whyInUse: WhyInUse;

  /** `whyInUse` undefined: after a crash, what was begun is finished, whoever has the thing open. */
  constructor(all: readonly Step[], looking: RecheckOptions, whyInUse: WhyInUse = () => undefined) {
    this.#looking = looking;
    this.#whyInUse = whyInUse;
    for (const [number, step] of all.entries()) {
      if (step.thing === undefined) continue;
      const known = this.#steps.get(step.thing) ?? new Map<number, Step>();
      this.#steps.set(step.thing, known.set(number, step));
    }
  }

  note({ path, thing }: Step, { verdict }: ChangeOutcome): void {
    if (thing === undefined) return;
    if (verdict === 'applied') this.#begun.add(thing);
    else if (this.#begun.has(thing)) this.#broken.set(thing, path);
    else if (this.#checked.get(thing) === undefined) this.#checked.set(thing, () => togetherReason(path));
  }

  hasBegun({ thing }: Step): boolean {
    return thing !== undefined && this.#begun.has(thing);
  }

  /** Whether the thing of a step is in part done and cannot be finished: what was done of it has to be undone. */
  isBroken({ thing }: Step): boolean {
    return thing !== undefined && this.#broken.has(thing);
  }

  /** The steps of a broken thing, the last first. From here on none of them is done. */
  giveUp({ thing = '' }: Step): ReadonlyMap<number, Step> {
    const path = this.#broken.get(thing) ?? '';
    this.#broken.delete(thing);
    this.#begun.delete(thing);
    this.#checked.set(thing, () => togetherReason(path));
    return new Map([...(this.#steps.get(thing) ?? [])].reverse());
  }

  /**
   * Why a step must not be done. All files of its thing are compared with the host before the first of them is written, and
   * again before the first of them is changed (`isCommitted`). RACE: as for each path, a program can still open or change
   * them between this check and the last step.
   */
  reasonAgainst({ path, thing }: Step, isCommitted: boolean): string | undefined {
    if (thing === undefined || this.#begun.has(thing)) return undefined;
    const isDue = !this.#checked.has(thing) || (isCommitted && this.#checked.get(thing) === undefined);
    if (isDue && !this.#looking.resumed) this.#checked.set(thing, this.#check(thing, path));
    return this.#checked.get(thing)?.(path);
  }

  #check(thing: string, path: string): ((path: string) => string) | undefined {
    const steps = [...(this.#steps.get(thing)?.values() ?? [])];
    const changed = steps.find((step) => recheckStep(step, this.#looking) === 'changed');
    if (changed !== undefined)
      return (other) => (changed.path === other ? 'changed on the host while applying' : togetherReason(changed.path));
    const why = this.#whyInUse(path);
    return why === undefined ? undefined : () => why;
  }
}
