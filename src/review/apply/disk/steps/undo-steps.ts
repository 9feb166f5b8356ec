import type { ChangeOutcome } from '../../../../core/types/session.ts';
import { togetherReason } from '../keep-together.ts';
import { type RollBackTools, undoStep } from '../roll-back.ts';
import { reasonOf } from './step-failure.ts';
import { outcomeOf, type Step, withActualMode } from './steps.ts';

/**
 * Undoes the steps of a thing of which one step could not be done (`failed`), so that none of its files is the session's.
 * `steps`: the last first; those in `done` are undone, with the mode that the file got. Returns the outcome of each undone
 * step. A step that is undone already stays so.
 */
export async function undoSteps(
  steps: ReadonlyMap<number, Step>,
  failed: string,
  done: ReadonlyMap<number, number | undefined>,
  tools: RollBackTools,
): Promise<ReadonlyMap<number, ChangeOutcome>> {
  const outcomes = new Map<number, ChangeOutcome>();
  for (const [number, planned] of steps) {
    if (!done.has(number)) continue;
    const step = withActualMode(planned, done.get(number));
    const problem = await undoStep(step, number, tools).catch((error: unknown) => reasonOf(error));
    const why = togetherReason(failed);
    // What cannot be restored is reported as it is: the user has to look at it.
    const result = problem === undefined ? why : `${why}, and it could not be restored: ${problem}`;
    outcomes.set(number, outcomeOf(planned, problem === undefined ? 'conflict' : 'failed', result));
  }
  return outcomes;
}

/** The things of a killed run of which one step could not be done: the path of that step, and the steps, the last first. */
export function brokenThings(
  steps: readonly Step[],
  failed: ReadonlyMap<number, ChangeOutcome>,
): ReadonlyMap<string, { readonly path: string; readonly steps: ReadonlyMap<number, Step> }> {
  const paths = new Map<string, string>();
  for (const number of failed.keys()) {
    const { thing, path = '' } = steps[number] ?? {};
    if (thing !== undefined && !paths.has(thing)) paths.set(thing, path);
  }
  const numbered = [...steps.entries()].reverse();
  return new Map(
    [...paths].map(([thing, path]) => [
      thing,
      { path, steps: new Map(numbered.filter(([, step]) => step.thing === thing)) },
    ]),
  );
}
