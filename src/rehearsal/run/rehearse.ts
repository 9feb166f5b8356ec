import { findingsOf } from '../../audit/findings.ts';
import { RunClaudeError } from '../../core/errors.ts';
import type { Change } from '../../core/types/entry.ts';
import type { Finding } from '../../core/types/finding.ts';
import type { ScratchOver } from '../../workspace/layer/layer.ts';
import { type Compared, compareRuns, notStarted, type SceneRuns } from '../facts/compare.ts';
import type { Observation } from '../facts/records.ts';
import type { Scene } from '../scenes/scene.ts';
import { scenesOf } from '../scenes/table.ts';
import { keptBase } from './kept-base.ts';
import { environmentOf, observeSide, type Stage } from './observe.ts';

/** What a rehearsal of a session's changes found. */
export interface Rehearsal extends Omit<Compared, 'hits'> {
  readonly findings: readonly Finding[];
  readonly ms: number;
}

export interface RehearsedChanges {
  readonly changes: readonly Change[];
  readonly findings: readonly Finding[];
  readonly secrets: ReadonlySet<string>;
}

/**
 * Runs every scene in the project as it was and with the session's changes, each in a scratch layer, and compares. Where
 * they differ, the project as it was runs once more: what differs between its own two runs is noise. `findings`: of the
 * audit, which get a note where no command started their file. `secrets`: paths of the project's files with secrets.
 *
 * @throws {RunClaudeError} REHEARSAL_UNAVAILABLE where the kernel or the session's strategy does not allow it; what the
 * engine throws; the signal's reason
 */
export async function rehearse(
  stage: Stage,
  { changes, findings: audited, secrets }: RehearsedChanges,
  seconds: number,
): Promise<Rehearsal> {
  const began = Date.now();
  const files = { changed: changedPaths(changes), secrets };
  const budgetMs = seconds * 500;
  const scenes = scenesOf(stage.plan.policy);
  const kept = keptBase(stage.plan, stage.workspace, scenes, environmentOf(stage.plan));
  const known = kept.read();
  const { bases, result } = await observeBoth({ stage, scenes, budgetMs }, known);
  let compared = compareRuns(runsOf(scenes, bases, result), files);
  let runs: Runs = bases;
  const left = began + seconds * 1000 - Date.now();
  if (compared.hits.length > 0 && bases.length === 1 && left >= 1000) {
    runs = [...bases, required(await observeSide(stage, 'base', scenes, left))];
    compared = compareRuns(runsOf(scenes, runs, result), files);
  }
  if (runs.length > known.length) kept.keep(runs);
  const { hits, ...rest } = compared;
  const findings = findingsOf([...hits, ...notStarted(rest, audited)], stage.plan.policy.auditSeverities, changes);
  return { ...rest, findings, ms: Date.now() - began };
}

/** At least one run of the project as it was. */
type Runs = readonly [Observation, ...Observation[]];

/** Side by side where the engine's machine has room for two such containers; the project as it was only where no run is kept. */
async function observeBoth(
  { stage, scenes, budgetMs }: { readonly stage: Stage; readonly scenes: readonly Scene[]; readonly budgetMs: number },
  [known, ...others]: readonly Observation[],
): Promise<{ readonly bases: Runs; readonly result: Observation }> {
  const observe = async (over: ScratchOver, signal = stage.signal): Promise<Observation> =>
    required(await observeSide({ ...stage, signal }, over, scenes, budgetMs));
  if (known !== undefined) return { bases: [known, ...others], result: await observe('session') };
  if (!hasRoomForTwo(stage)) {
    const base = await observe('base');
    return { bases: [base], result: await observe('session') };
  }
  const failed = new AbortController();
  const signal = AbortSignal.any([stage.signal, failed.signal]);
  const sides = (['base', 'session'] as const).map((over) =>
    observe(over, signal).catch((error: unknown) => {
      // Neither side is of use without the other one.
      failed.abort(error);
      throw error;
    }),
  );
  await Promise.allSettled(sides);
  const [base, result] = (await Promise.all(sides)) as [Observation, Observation];
  return { bases: [base], result };
}

/** Two containers with the session's limit of memory, each with a processor. Exported for the tests. */
export function hasRoomForTwo({ plan, engine }: Pick<Stage, 'plan' | 'engine'>): boolean {
  const { processors = 1, memoryMb = 0 } = engine.facts;
  return processors >= 2 && memoryMb >= 2 * plan.policy.memoryMb;
}

/** A deleted file leads nowhere. No program reads a folder or a link: it reads what the link names. */
function changedPaths(changes: readonly Change[]): ReadonlySet<string> {
  const files = changes.filter(({ kind, after }) => kind !== 'deleted' && after?.kind === 'file');
  return new Set(files.map(({ path }) => path));
}

function runsOf(scenes: readonly Scene[], [first, ...others]: Runs, result: Observation): readonly SceneRuns[] {
  return scenes.flatMap((scene): readonly SceneRuns[] => {
    const of = ({ scenes }: Observation) => scenes.find((one) => one.scene === scene.name);
    const [base, after] = [of(first), of(result)];
    if (base === undefined || after === undefined) return [];
    const again = others.flatMap((one) => of(one) ?? []);
    return [{ scene, bases: [base, ...again], result: after }];
  });
}

function required(observed: Observation | undefined): Observation {
  if (observed === undefined)
    throw new RunClaudeError('REHEARSAL_UNAVAILABLE', 'this session has no layer that a rehearsal could write to', {
      hint: 'Sessions of the strategies layers and volume can be rehearsed.',
    });
  if (observed.unavailable === undefined) return observed;
  throw new RunClaudeError(
    'REHEARSAL_UNAVAILABLE',
    `the kernel of the engine hands no system calls to an observer (${observed.unavailable})`,
    { hint: 'A rehearsal needs Linux 5.9 or newer on the machine of the engine. Review the changes by hand.' },
  );
}
