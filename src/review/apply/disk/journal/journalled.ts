import { randomBytes } from 'node:crypto';
import { bootId } from '../../../../core/host/processes/process.ts';
import type { ContentStore } from '../../../../core/store/content.ts';
import { parentPath } from '../../../../core/text/path.ts';
import type { Tell } from '../../../../core/types/event.ts';
import type { ChangeOutcome } from '../../../../core/types/session.ts';
import { readHost } from '../host/host-entry.ts';
import { directoryIdentity, type HostWalker } from '../host/host-path.ts';
import { missingRoom } from '../host/missing-room.ts';
import { rollBack } from '../roll-back.ts';
import { DiskFailure, type Run, runSteps } from '../steps/run-steps.ts';
import { isOnePath } from '../steps/step-failure.ts';
import { orderSteps, outcomeOf, type Step } from '../steps/steps.ts';
import type { WhyInUse } from '../whole-things.ts';
import { createJournal, type Journal } from './journal.ts';
import type { FolderTime, JournalHead, OtherMember } from './journal-format.ts';

export interface JournalledRun {
  readonly project: string;
  readonly sessionDir: string;
  readonly store: ContentStore;
  readonly tell: Tell;
  readonly signal?: AbortSignal;
  readonly walker: HostWalker;
  readonly steps: readonly Step[];
  readonly kind: JournalHead['kind'];
  readonly whyInUse: WhyInUse;
  /** What the things in several files have besides the files of the steps. */
  readonly others: readonly OtherMember[];
  readonly undoes?: number;
  /** Runs after the steps and before the end is recorded: undo restores the times of folders here. */
  readonly finish?: (outcomes: readonly ChangeOutcome[]) => void;
}

/**
 * Writes the journal, does its steps and records the end. When the disk is full or fails, everything is undone and all
 * outcomes are 'failed'. Throws when the journal itself cannot be written; the host is not changed then.
 */
export async function runJournalled(run: JournalledRun): Promise<ChangeOutcome[]> {
  const steps = orderSteps(run.steps);
  if (steps.length === 0) return [];
  const short = missingRoom(run.project, run.sessionDir, steps);
  if (short !== undefined) return steps.map((step) => outcomeOf(step, 'failed', short));
  await run.store.flush();
  using journal = createJournal(run.sessionDir);
  const token = randomBytes(6).toString('hex');
  const { kind, undoes, project } = run;
  const identity = directoryIdentity(project);
  const head: JournalHead = {
    version: 1,
    kind,
    ...(undoes === undefined ? {} : { undoes }),
    project,
    identity,
    boot: bootId(),
    token,
    at: new Date().toISOString(),
    others: run.others,
  };
  const folders = folderTimes(run.walker, steps);
  journal.append(
    [
      { r: 'head', head, folders },
      ...steps.map((step) => ({ r: 'step', step }) as const),
      { r: 'ready', steps: steps.length },
    ],
    true,
  );
  const unfinished = new Set<number>();
  const outcomes = await perform(steps, { ...run, journal, token, content: run.store, unfinished });
  run.finish?.(outcomes);
  // Without an end the next command finishes the run: the journal has the names of the temporary files.
  if (unfinished.size === 0) endJournal(journal, run.walker, folders, outcomes);
  return outcomes;
}

async function perform(steps: readonly Step[], run: Omit<Run, 'resumed'>): Promise<ChangeOutcome[]> {
  try {
    const done = await runSteps(steps, { ...run, resumed: false });
    return onePerPath([...done.values()]);
  } catch (error) {
    if (!(error instanceof DiskFailure)) throw error;
    return rollBack(steps, error.done, error.message, run);
  }
}

/**
 * A folder that is created and then made read-only has two steps. Where the second fails the folder exists, and undo
 * needs its outcome.
 */
export function onePerPath(outcomes: readonly ChangeOutcome[]): ChangeOutcome[] {
  const byPath = new Map<string, ChangeOutcome>();
  for (const outcome of outcomes) {
    const known = byPath.get(outcome.path);
    if (known === undefined) byPath.set(outcome.path, outcome);
    else if (known.verdict === 'applied' && outcome.verdict !== 'applied') {
      byPath.set(outcome.path, { ...known, why: `it stays writable: ${outcome.why}` });
    }
  }
  return [...byPath.values()];
}

/** Records the end: from here on only undo reads the journal. */
export function endJournal(
  journal: Journal,
  walker: HostWalker,
  folders: readonly FolderTime[],
  outcomes: readonly ChangeOutcome[],
): void {
  const after = folders.flatMap((folder) => {
    const mtimeNs = folderTime(walker, folder.path);
    return mtimeNs === undefined ? [] : [{ ...folder, after: mtimeNs }];
  });
  journal.append([{ r: 'end', outcomes, folders: after }], true);
}

function folderTimes(walker: HostWalker, steps: readonly Step[]): FolderTime[] {
  const paths = new Set(
    steps.flatMap((step) => [parentPath(step.path), ...(step.pre?.kind === 'dir' ? [step.path] : [])]),
  );
  return [...paths].flatMap((path) => {
    const mtimeNs = folderTime(walker, path);
    return mtimeNs === undefined ? [] : [{ path, mtimeNs }];
  });
}

/** Of a folder of the project, '' being the project; undefined when there is none. */
export function folderTime(walker: HostWalker, folder: string): string | undefined {
  try {
    return folder === '' ? walker.rootTime() : readFolder(walker, folder);
  } catch (error) {
    // An apply does not fail for a missing time.
    if (isOnePath(error)) return undefined;
    throw error;
  }
}

function readFolder(walker: HostWalker, folder: string): string | undefined {
  const state = readHost(walker, folder);
  return state?.kind === 'dir' ? state.mtimeNs : undefined;
}
