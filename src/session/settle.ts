import type { Merged } from '../apply/apply-changes.ts';
import { recoverApply } from '../apply/recover.ts';
import { undoApply } from '../apply/undo.ts';
import { EXIT, RunClaudeError, usageError } from '../errors.ts';
import { chooseClean, outcomeCounts, type PathFilter } from '../review/policy.ts';
import { openContentStore } from '../store/content.ts';
import { askLine, isYes } from '../terminal/ask.ts';
import { askMerge } from '../terminal/ask-merge.ts';
import { amount } from '../terminal/progress.ts';
import type { ApplyOutcome, ChangeOutcome, SessionRecord } from '../types/session.ts';
import { dropLayer } from '../workspace/drop-layer.ts';
import { type ApplyOptions, applySession } from './apply-session.ts';
import type { PersonDeps } from './deps.ts';
import { endSession } from './end-session.ts';
import { withLayerLock } from './kept-layer.ts';
import { ownerState, storeDir, updateRecord } from './record.ts';
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
  /** As `--include-ignored`: withheld files that were kept with the session come too. */
  readonly release?: boolean | readonly string[];
}

/** What an `apply` came to; no outcome when nothing was decided. */
export interface Later {
  readonly status: number;
  readonly outcome?: ApplyOutcome;
}

/** `apply`: the question again, or with --yes, --only or --skip what is clean. A dry run changes and says nothing. */
export async function applyLater(record: SessionRecord, deps: PersonDeps, options: LaterOptions): Promise<Later> {
  requireSettled(record);
  const review = reviewOf(record, undefined, options.release);
  const filtered = options.filter.only.length > 0 || options.filter.skip.length > 0;
  const choice =
    options.yes || options.dryRun || filtered
      ? chooseClean(review, options.filter)
      : await decideSession({ ...record, plan: withoutAutoApply(record) }, review, deps, false);
  const agent = { status: 0, stopped: undefined };
  if (choice.discard || !choice.decided) {
    return { status: await endSession({ record, review, choice, agent }, deps) };
  }
  const { record: now, outcome } = await applySession(record, choice, deps, options);
  if (!options.dryRun) {
    return { status: await endSession({ record: now, review, choice, agent, outcome }, deps), outcome };
  }
  const { conflicts, heldBack } = outcomeCounts(outcome);
  return { status: conflicts > 0 ? EXIT.conflict : heldBack > 0 ? EXIT.heldBack : EXIT.ok, outcome };
}

/**
 * `discard`: nothing of the session is applied any more; what is left of it goes with the next gc. Throws LOCK_HELD while
 * another command stands on its layer.
 */
export async function discardSession(record: SessionRecord, deps: PersonDeps): Promise<void> {
  requireSettled(record);
  await withLayerLock(record.plan, 'discarding it', () =>
    dropLayer(updateRecord(record, { stage: 'discarded' }).plan, undefined),
  );
  deps.tell({ kind: 'message', level: 'info', text: `Session ${record.id} is discarded.` });
}

/**
 * `undo`: what the last apply of the session changed is put back, after a yes where there is a terminal to ask on;
 * undefined when that was not given. A file that the person edited since stays, unless the merge of both is accepted.
 */
export async function undoSession(
  record: SessionRecord,
  deps: PersonDeps,
  options: { readonly dryRun: boolean; readonly yes: boolean },
): Promise<ApplyOutcome | undefined> {
  requireSettled(record);
  const { plan } = record;
  const { screen } = deps;
  const request = {
    project: plan.project.root,
    sessionDir: plan.sessionDir,
    store: openContentStore(storeDir(plan.sessionDir)),
    tell: deps.tell,
    signal: deps.interruption.signal,
    ...(screen === undefined ? {} : { acceptMerge: (merge: Merged) => askMerge(screen, merge) }),
  };
  if (screen !== undefined && !options.yes && !options.dryRun) {
    const { changes } = await undoApply({ ...request, dryRun: true });
    const [back, stays] = [changes.filter(isApplied), changes.filter(({ verdict }) => verdict === 'conflict')];
    const kept = stays.length === 0 ? '' : `; ${stays.length} edited since ${stays.length === 1 ? 'stays' : 'stay'}`;
    const answer = await askLine(screen, `[sandbox] Take back ${amount(back.length, 'files')}${kept}? [y/N]:`);
    if (!isYes(answer)) return undefined;
  }
  const outcome = await undoApply({ ...request, dryRun: options.dryRun });
  if (!options.dryRun) updateRecord(record, { stage: 'pending', outcome: undefined });
  return outcome;
}

function isApplied({ verdict }: ChangeOutcome): boolean {
  return verdict === 'applied';
}

/** Whoever decides on a session finds it ended and not thrown away. */
function requireSettled(record: SessionRecord): void {
  if (record.stage === 'discarded') throw usageError(`session ${record.id} was discarded`);
  if (record.stage !== 'running' || ownerState(record) === 'gone') return;
  throw new RunClaudeError('SESSION_RUNNING', `session ${record.id} is still running (process ${record.owner?.pid})`, {
    hint: 'Wait for its end, or end it where it runs.',
  });
}

/** A person who types `apply` wants to be asked, whatever the session was started with. */
function withoutAutoApply({ plan }: SessionRecord): SessionRecord['plan'] {
  return { ...plan, policy: { ...plan.policy, autoApply: false } };
}
