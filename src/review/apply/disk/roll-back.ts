import type { ContentReader } from '../../../core/types/entry.ts';
import type { Tell } from '../../../core/types/event.ts';
import type { ChangeOutcome } from '../../../core/types/session.ts';
import { type HostState, readHost } from './host/host-entry.ts';
import type { HostWalker } from './host/host-path.ts';
import type { Journal } from './journal/journal.ts';
import { performStep } from './steps/perform-step.ts';
import { stepContent } from './steps/step-content.ts';
import { reasonOf } from './steps/step-failure.ts';
import { isDone, isUntouched, outcomeOf, type Step, withActualMode } from './steps/steps.ts';

export interface RollBackTools {
  readonly walker: HostWalker;
  readonly journal: Journal;
  readonly token: string;
  readonly content: ContentReader;
  readonly tell: Tell;
}

/**
 * Undoes what the steps did, last first: new entries are removed before replaced ones are written again, so that a full
 * disk has room. The journal records it first, and recovery continues it. `done`: the steps that were done, with a mode
 * where the file system gave another one than planned. Returns a 'failed' for each path.
 */
export async function rollBack(
  planned: readonly Step[],
  done: ReadonlyMap<number, number | undefined>,
  why: string,
  tools: RollBackTools,
): Promise<ChangeOutcome[]> {
  const steps = planned.map((step, number) => withActualMode(step, done.get(number)));
  try {
    tools.journal.append([{ r: 'rollback', why }], true);
  } catch (error) {
    // On a full disk not even this record may fit. Recovery would then finish the apply, which is right as well.
    tools.tell({ kind: 'trace', text: `journal: ${(error as Error).message}` });
  }
  const numbered = [...steps.entries()].reverse();
  // A folder that this run made read-only is made writable again before its entries can be removed.
  const closed = numbered.filter(([, step]) => step.pre?.fingerprint === '');
  const made = numbered.filter(([, step]) => step.pre === undefined);
  const rest = numbered.filter(([, step]) => step.pre !== undefined && step.pre.fingerprint !== '');
  const outcomes: ChangeOutcome[] = [];
  for (const [number, step] of [...closed, ...made, ...rest]) {
    const problem = await undoStep(step, number, tools).catch((error: unknown) => reasonOf(error));
    const result = problem === undefined ? 'undone' : `could not be undone: ${problem}`;
    outcomes.push(outcomeOf(step, 'failed', `${why}; ${result}`));
  }
  const byPath = new Map(outcomes.map((outcome) => [outcome.path, outcome]));
  return [...byPath.values()];
}

/** Undoes one step that was done. Returns why it cannot; undefined when the path is as it was. */
export async function undoStep(step: Step, number: number, tools: RollBackTools): Promise<string | undefined> {
  const content = step.pre?.kind === 'file' ? await stepContent(tools.content, step.pre) : undefined;
  const now = readHost(tools.walker, step.path);
  if (isUntouched(step, now)) return undefined;
  // A folder that this run made was removed when the step that made it was undone.
  if (now === undefined && step.pre?.fingerprint === '') return undefined;
  const half = now === undefined && step.pre?.kind !== step.post?.kind;
  if (!isDone(step, now) && !half && !step.inPlace) return 'changed on the host since';
  const back = inverse(step, now);
  const same = now?.kind === 'file' && now.digest === step.pre?.digest;
  performStep(back, {
    walker: tools.walker,
    temp: `.rc-${tools.token}-b${number}`,
    content: same ? undefined : content,
    cleared: false,
  });
  return undefined;
}

function inverse(step: Step, now: HostState | undefined): Step {
  const { pre } = step;
  const plain =
    pre?.kind === 'file' || pre?.kind === 'dir' || pre?.kind === 'symlink' ? { ...pre, kind: pre.kind } : undefined;
  return {
    path: step.path,
    ...(now && { pre: now }),
    ...(plain && { post: plain }),
    ...(step.inPlace ? { inPlace: true } : {}),
    ...(step.attributes ? { attributes: true } : {}),
  };
}
