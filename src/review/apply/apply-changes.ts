import { announceWait } from '../../core/progress/announce-wait.ts';
import { withLock } from '../../core/store/lock.ts';
import type { ApplyOutcome, ChangeOutcome } from '../../core/types/session.ts';
import type { ApplyRequest } from './apply-request.ts';
import { openHostWalker } from './disk/host/host-path.ts';
import { runJournalled } from './disk/journal/journalled.ts';
import { appliedOutcome } from './disk/steps/steps.ts';
import { USUAL_UMASK, withUserModes } from './entries/new-modes.ts';
import { inSessionOrder } from './entries/times.ts';
import { projectLockFile } from './lock-file.ts';
import { conflictFileSteps } from './merge/conflict-files.ts';
import { foldersFor } from './missing-folders.ts';
import { prepare } from './prepare.ts';
import { recoverApply } from './recover.ts';

/**
 * Applies what was chosen to the host project as it is now: three-way, journalled, never outside the project and never
 * into a `.git`. One apply a project at a time; an apply that ended in the middle is finished first. Throws
 * RunClaudeError APPLY_PROJECT_REPLACED, LOCK_HELD and what the store throws; failures of single paths are verdicts.
 * The outcome lists `choice.left` too.
 */
export async function applyChanges(request: ApplyRequest): Promise<ApplyOutcome> {
  const what = `applying changes to ${request.project}`;
  const lock = { what, waitMs: 60_000, waiting: announceWait(request.tell) };
  return withLock(projectLockFile(request.sessionDir, request.project), lock, async () => {
    if (!request.dryRun) await recoverApply({ ...request, locked: true });
    using walker = openHostWalker(request.project, request.projectIdentity);
    const prepared = await prepare({ request, walker, trusted: false });
    const outcomes: ChangeOutcome[] = [...prepared.outcomes];
    const conflictFiles = await conflictFileSteps({
      request,
      outcomes,
      walker,
      isChosen: prepared.isBeside,
      things: prepared.things,
    });
    const made = withUserModes(
      [...prepared.steps, ...foldersFor(conflictFiles, prepared.steps, walker), ...conflictFiles],
      {
        project: request.project,
        walker,
        sessionUmask: request.sessionUmask ?? USUAL_UMASK,
        umask: process.umask(),
      },
    );
    const steps = inSessionOrder(made, request.choice.chosen, BigInt(Date.now()) * 1_000_000n);
    const done = request.dryRun
      ? steps.map(appliedOutcome)
      : await runJournalled({ ...request, walker, steps, kind: 'apply', ...prepared.things });
    for (const one of done) outcomes.push(one);
    const byPath = [...outcomes, ...request.choice.left].sort((a, b) => (a.path < b.path ? -1 : 1));
    return { changes: byPath, at: new Date().toISOString() };
  });
}
