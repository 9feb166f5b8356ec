import { recoverApply } from '../apply/recover.ts';
import { undoApply } from '../apply/undo.ts';
import { usageError } from '../errors.ts';
import { chooseClean, outcomeCounts, type PathFilter } from '../review/policy.ts';
import { openContentStore } from '../store/content.ts';
import type { ApplyOutcome, SessionRecord } from '../types/session.ts';
import { type ApplyOptions, applySession } from './apply-session.ts';
import type { PersonDeps } from './deps.ts';
import { endSession } from './end-session.ts';
import { removeLayer } from './layer-life.ts';
import { storeDir, updateRecord } from './record.ts';
import { decideSession, reviewOf } from './review-session.ts';

/** Finishes or takes back an apply that was cut off, and says so; to be called before anything else is done. */
export async function finishApply(record: SessionRecord, deps: PersonDeps): Promise<void> {
  const { plan } = record;
  await recoverApply({
    project: plan.project.root,
    sessionDir: plan.sessionDir,
    store: openContentStore(storeDir(plan.sessionDir)),
    tell: deps.tell,
  });
}

export interface LaterOptions extends ApplyOptions {
  readonly filter: PathFilter;
}

/** `apply`: the question again, or with --yes what is clean. Gives the exit status. */
export async function applyLater(record: SessionRecord, deps: PersonDeps, options: LaterOptions): Promise<number> {
  refuseDiscarded(record);
  const review = reviewOf(record);
  const filtered = options.filter.only.length > 0 || options.filter.skip.length > 0;
  const choice =
    options.yes || options.dryRun || filtered
      ? chooseClean(review, options.filter)
      : await decideSession({ ...record, plan: withoutAutoApply(record) }, review, deps, false);
  const agent = { status: 0, stopped: undefined };
  if (choice.discard || !choice.decided) return endSession({ record, review, choice, agent }, deps);
  const applied = await applySession(record, choice, deps, options);
  return endSession({ record: applied.record, review, choice, agent, outcome: applied.outcome }, deps);
}

/** `discard`: nothing of the session is applied any more; what is left of it goes with the next gc. */
export async function discardSession(record: SessionRecord, deps: PersonDeps): Promise<void> {
  refuseDiscarded(record);
  await removeLayer(updateRecord(record, { stage: 'discarded' }), undefined);
  deps.tell({ kind: 'message', level: 'info', text: `Session ${record.id} is discarded.` });
}

/** `undo`: what the last apply of the session changed is put back. Gives what became of each path. */
export async function undoSession(
  record: SessionRecord,
  deps: PersonDeps,
  dryRun: boolean,
): Promise<{ readonly outcome: ApplyOutcome; readonly conflicts: number }> {
  const { plan } = record;
  const outcome = await undoApply({
    project: plan.project.root,
    sessionDir: plan.sessionDir,
    store: openContentStore(storeDir(plan.sessionDir)),
    tell: deps.tell,
    signal: deps.interruption.signal,
    dryRun,
  });
  if (!dryRun) updateRecord(record, { stage: 'pending', outcome: undefined });
  return { outcome, conflicts: outcomeCounts(outcome).conflicts };
}

function refuseDiscarded(record: SessionRecord): void {
  if (record.stage === 'discarded') throw usageError(`session ${record.id} was discarded`);
}

/** A person who types `apply` wants to be asked, whatever the session was started with. */
function withoutAutoApply({ plan }: SessionRecord): SessionRecord['plan'] {
  return { ...plan, policy: { ...plan.policy, autoApply: false } };
}
