import { openContentStore } from '../../core/store/content.ts';
import type { ConflictRule } from '../../core/types/change/conflict.ts';
import type { Change, Digest } from '../../core/types/entry.ts';
import type { Finding } from '../../core/types/finding.ts';
import type { Policy } from '../../core/types/policy.ts';
import type { Choice, Review } from '../../core/types/review.ts';
import type { ApplyOutcome, SessionRecord } from '../../core/types/session.ts';
import { matcher } from '../../review/choices/build-review.ts';
import { IN_PART, joinOutcomes } from '../../review/choices/file-progress.ts';
import { ChangeJudge } from '../../review/judging/change-judge.ts';
import { policySettings } from '../../review/judging/policy-settings.ts';
import { askConflict, askMerge } from '../../review/screen/ask/ask-conflict.ts';
import { bringChosenBack } from '../end/claude-data.ts';
import { appendEvent } from '../record/events/events-file.ts';
import { readCollected, storeDir, updateRecord } from '../record/session.ts';
import type { UserDeps } from '../stage/deps.ts';
import { appliedSince, recordNow, withAppliedSince } from './applied-since.ts';
import type { Target, TargetOutcome, TargetRequest } from './targets/target.ts';

export interface ApplyOptions {
  /** 'ask': asks about each conflict on a terminal; elsewhere the target's version is kept. */
  readonly conflict: ConflictRule | 'ask';
  readonly dryRun: boolean;
  /** Asks nothing about a clean merge that has no finding. */
  readonly yes: boolean;
  /** Globs, besides those of the policy, for paths whose suspect changes count as clean. */
  readonly allowSuspect?: readonly string[];
}

/** A choice about changes, and where the chosen ones are applied to. */
export interface Applying {
  readonly record: SessionRecord;
  readonly target: Target;
  /** The changes that were decided about. */
  readonly review: Review;
  readonly choice: Choice;
}

/** The result of {@link applyChoice}. */
export interface Applied extends Pick<TargetOutcome, 'finish'> {
  readonly record: SessionRecord;
  readonly outcome: ApplyOutcome;
}

/**
 * Applies a choice to its target, and brings the agent's data back. Returns the outcome, and the record with it; a dry run
 * changes neither. A project has one apply at a time; a second session merges with what the first one applied.
 *
 * @throws {RunClaudeError} LOCK_HELD while another apply runs; what the target throws.
 */
export async function applyChoice(
  { record, target, review, choice }: Applying,
  deps: UserDeps,
  options: ApplyOptions,
): Promise<Applied> {
  const { plan } = record;
  const { screen } = deps;
  const asks = options.conflict === 'ask' && !options.yes && screen !== undefined;
  const allowSuspect = [...plan.policy.allowSuspect, ...(options.allowSuspect ?? [])];
  let merged: ReadonlyMap<Digest, Buffer> = new Map();
  // Its process starts with the first merge.
  using judge = new ChangeJudge({ content: (digest) => merged.get(digest) });
  const request: TargetRequest = {
    ...frozenRequest(record, choice, deps),
    conflict: options.conflict === 'ask' ? 'keep' : options.conflict,
    ...(asks && { askConflict: (conflict) => askConflict(screen, conflict) }),
    dryRun: options.dryRun,
    audit: (change, contents) => {
      merged = contents;
      return auditNewBytes(change, judge, { ...plan.policy, allowSuspect });
    },
    acceptMerge: async (merge) => options.yes || (screen !== undefined && askMerge(screen, merge)),
  };
  const { outcome, recorded, finish } = await target.apply(request, review);
  const claude = await bringChosenBack(record, choice, deps, options.dryRun);
  if (options.dryRun) return { record, outcome: { ...outcome, claude } };
  const now = recordNow(record);
  const changes = withAppliedSince(outcome.changes, appliedSince(record, now));
  const whole: ApplyOutcome = { ...outcome, changes, claude };
  const kept = recorded === undefined ? changes : recorded(now.outcome?.changes ?? []);
  const known = joinApplies(now.outcome, { ...whole, changes: kept });
  const next = updateRecord(now, { stage: stageAfter(known), outcome: known });
  appendEvent(plan.sessionDir, 'apply', verdictsText(changes));
  return { record: next, outcome: whole, ...(finish && { finish }) };
}

/** What every apply of a session gives: what was frozen of it. */
export function frozenRequest(
  { plan }: SessionRecord,
  choice: Choice,
  deps: UserDeps,
): Pick<TargetRequest, 'choice' | 'leftMembers' | 'store' | 'sessionUmask' | 'tell' | 'signal'> {
  const { leftMembers } = readCollected(plan.sessionDir);
  return {
    choice,
    ...(leftMembers !== undefined && { leftMembers }),
    store: openContentStore(storeDir(plan.sessionDir)),
    sessionUmask: plan.umask,
    tell: deps.tell,
    signal: deps.interruption.signal,
  };
}

/** The stage of a session with this outcome: pending while anything of it can still be applied. */
export function stageAfter({ changes, claude = [] }: ApplyOutcome): 'pending' | 'applied' {
  const finalVerdicts = ['applied', 'same', 'withheld', 'blocked'];
  const isOpen = [...changes, ...claude].some(
    (one) => !finalVerdicts.includes(one.verdict) || ('why' in one && one.why === IN_PART),
  );
  return isOpen ? 'pending' : 'applied';
}

/** '3 applied, 1 conflict'. */
function verdictsText(changes: ApplyOutcome['changes']): string {
  const counts = new Map<string, number>();
  for (const { verdict } of changes) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  return counts.size === 0 ? 'nothing' : [...counts].map(([verdict, count]) => `${count} ${verdict}`).join(', ');
}

/** The outcome of all applies of a session, for the record. */
function joinApplies(earlier: ApplyOutcome | undefined, later: ApplyOutcome): ApplyOutcome {
  if (earlier === undefined) return later;
  const didNothing = !later.changes.some(({ verdict }) => verdict === 'applied');
  return {
    ...later,
    ...(didNothing && { at: earlier.at }),
    changes: joinOutcomes(earlier.changes, later.changes),
  };
}

/** Audits content that is new to both sides, such as a merge. Paths that --allow-suspect names have no suspect finding. */
async function auditNewBytes(change: Change, judge: ChangeJudge, policy: Policy): Promise<readonly Finding[]> {
  const findings = await judge.audit({
    changes: [change],
    ...policySettings(policy),
  });
  const allowed = matcher(policy.allowSuspect)(change.path);
  return allowed ? findings.filter(({ severity }) => severity !== 'suspect') : findings;
}
