import { openContentStore } from '../../core/store/content.ts';
import type { Change, Digest } from '../../core/types/entry.ts';
import type { Finding } from '../../core/types/finding.ts';
import type { Policy } from '../../core/types/policy.ts';
import type { Choice } from '../../core/types/review.ts';
import type { ApplyOutcome, CollectedRecord, SessionRecord } from '../../core/types/session.ts';
import { applyChanges, type ConflictRule } from '../../review/apply/apply-changes.ts';
import { matcher } from '../../review/choices/build-review.ts';
import { IN_PART, joinOutcomes } from '../../review/choices/file-progress.ts';
import { ChangeJudge } from '../../review/judging/change-judge.ts';
import { policySettings } from '../../review/judging/policy-settings.ts';
import { askConflict } from '../../review/screen/ask-conflict.ts';
import { askMerge } from '../../review/screen/ask-merge.ts';
import { readCollected, storeDir, updateRecord } from '../record/session.ts';
import type { UserDeps } from '../stage/deps.ts';
import { appliedSince, recordNow, withAppliedSince } from './applied-since.ts';
import { bringChosenBack } from './claude-data.ts';

export interface ApplyOptions {
  /** 'ask': asks about each conflict on a terminal; elsewhere the host's version is kept. */
  readonly conflict: ConflictRule | 'ask';
  readonly dryRun: boolean;
  /** Asks nothing about a clean merge that has no finding. */
  readonly yes: boolean;
  /** Globs, besides those of the policy, for paths whose suspect changes count as clean. */
  readonly allowSuspect?: readonly string[];
}

/**
 * Applies a choice to the user's project. Returns the outcome, and the record with it. A project has one apply at a time;
 * a second session merges with what the first one applied.
 *
 * @throws {RunClaudeError} LOCK_HELD while another apply runs; what applyChanges throws.
 */
export async function applySession(
  record: SessionRecord,
  choice: Choice,
  deps: UserDeps,
  options: ApplyOptions,
): Promise<{ readonly record: SessionRecord; readonly outcome: ApplyOutcome }> {
  const { plan } = record;
  const { screen } = deps;
  const asks = options.conflict === 'ask' && !options.yes && screen !== undefined;
  const allowSuspect = [...plan.policy.allowSuspect, ...(options.allowSuspect ?? [])];
  const store = openContentStore(storeDir(plan.sessionDir));
  let merged: ReadonlyMap<Digest, Buffer> = new Map();
  // Its process starts with the first merge.
  using judge = new ChangeJudge({ content: (digest) => merged.get(digest) });
  const outcome = await applyChanges({
    project: plan.project.root,
    ...(plan.project.inode !== undefined && { projectIdentity: `:${plan.project.inode}` }),
    sessionDir: plan.sessionDir,
    choice,
    ...leftMembers(plan.sessionDir),
    store,
    sessionUmask: plan.umask,
    conflict: options.conflict === 'ask' ? 'keep' : options.conflict,
    ...(asks && { askConflict: (conflict) => askConflict(screen, conflict) }),
    dryRun: options.dryRun,
    tell: deps.tell,
    signal: deps.interruption.signal,
    audit: (change, contents) => {
      merged = contents;
      return auditNewBytes(change, judge, { ...plan.policy, allowSuspect });
    },
    acceptMerge: async (merge) => options.yes || (screen !== undefined && askMerge(screen, merge)),
  });
  if (options.dryRun) return { record, outcome };
  const claude = await bringChosenBack(record, choice, deps);
  const now = recordNow(record);
  const changes = withAppliedSince(outcome.changes, appliedSince(record, now));
  const whole: ApplyOutcome = { ...outcome, changes, claude };
  const known = joinApplies(now.outcome, whole);
  return { record: updateRecord(now, { stage: stageAfter(known), outcome: known }), outcome: whole };
}

/** Of things in several files, those that the session left as they were. */
function leftMembers(sessionDir: string): Pick<CollectedRecord, 'leftMembers'> {
  const { leftMembers: members } = readCollected(sessionDir);
  return members === undefined ? {} : { leftMembers: members };
}

/** The stage of a session with this outcome: pending while anything of it can still be applied. */
export function stageAfter({ changes, claude = [] }: ApplyOutcome): 'pending' | 'applied' {
  const finalVerdicts = ['applied', 'same', 'withheld', 'blocked'];
  const isOpen = [...changes, ...claude].some(
    (one) => !finalVerdicts.includes(one.verdict) || ('why' in one && one.why === IN_PART),
  );
  return isOpen ? 'pending' : 'applied';
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
export async function auditNewBytes(change: Change, judge: ChangeJudge, policy: Policy): Promise<readonly Finding[]> {
  const findings = await judge.audit({
    changes: [change],
    ...policySettings(policy),
  });
  const allowed = matcher(policy.allowSuspect)(change.path);
  return allowed ? findings.filter(({ severity }) => severity !== 'suspect') : findings;
}
