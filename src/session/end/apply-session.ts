import { applyChanges, type ConflictRule } from '../../apply/apply-changes.ts';
import { auditChanges } from '../../audit/audit.ts';
import { storeDir, updateRecord } from '../../record/session.ts';
import { matcher } from '../../review/build-review.ts';
import { IN_PART, isApplied, joinOutcomes } from '../../review/file-progress.ts';
import { openContentStore } from '../../store/content.ts';
import { askConflict } from '../../terminal/review/ask-conflict.ts';
import { askMerge } from '../../terminal/review/ask-merge.ts';
import type { Change, Digest } from '../../types/entry.ts';
import type { Finding } from '../../types/finding.ts';
import type { Policy } from '../../types/policy.ts';
import type { Choice } from '../../types/review.ts';
import type { ApplyOutcome, SessionRecord } from '../../types/session.ts';
import type { PersonDeps } from '../start/deps.ts';
import { bringClaudeBack } from './claude-data.ts';

export interface ApplyOptions {
  /** 'ask': on a terminal each conflict is asked about, otherwise the host's version stays. */
  readonly conflict: ConflictRule | 'ask';
  readonly dryRun: boolean;
  /** No question for a clean merge that audits clean. */
  readonly yes: boolean;
  /** Globs besides those of the policy whose suspect changes count as clean. */
  readonly allowSuspect?: readonly string[];
}

/**
 * Applies a choice to the person's project and writes what became of it into the record. One apply of a project at a
 * time; a second session's merges against what the first one left. Throws LOCK_HELD and what apply throws.
 */
export async function applySession(
  record: SessionRecord,
  choice: Choice,
  deps: PersonDeps,
  options: ApplyOptions,
): Promise<{ readonly record: SessionRecord; readonly outcome: ApplyOutcome }> {
  const { plan } = record;
  const { screen } = deps;
  const asks = options.conflict === 'ask' && !options.yes && screen !== undefined;
  const allowSuspect = [...plan.policy.allowSuspect, ...(options.allowSuspect ?? [])];
  const store = openContentStore(storeDir(plan.sessionDir));
  const outcome = await applyChanges({
    project: plan.project.root,
    ...(plan.project.inode !== undefined && { projectIdentity: `:${plan.project.inode}` }),
    sessionDir: plan.sessionDir,
    choice,
    store,
    conflict: options.conflict === 'ask' ? 'keep' : options.conflict,
    ...(asks && { askConflict: (conflict) => askConflict(screen, conflict) }),
    dryRun: options.dryRun,
    tell: deps.tell,
    signal: deps.interruption.signal,
    audit: (change, contents) => auditNewBytes(change, contents, { ...plan.policy, allowSuspect }),
    acceptMerge: async (merge) => options.yes || (screen !== undefined && askMerge(screen, merge)),
  });
  if (options.dryRun) return { record, outcome };
  const broughtBefore = new Set(record.outcome?.claude?.filter(isApplied).map(({ path }) => path));
  const claude = (await bringClaudeBack(record, choice.claude ?? [], deps)).map((one) =>
    one.verdict === 'suspect' && broughtBefore.has(one.path) ? { ...one, verdict: 'same' as const } : one,
  );
  const whole: ApplyOutcome = { ...outcome, claude };
  const known = joinApplies(record.outcome, whole);
  const dealtWith = ['applied', 'same', 'withheld', 'blocked'];
  const waiting = [...known.changes, ...(known.claude ?? [])].some(
    (one) => !dealtWith.includes(one.verdict) || ('why' in one && one.why === IN_PART),
  );
  return { record: updateRecord(record, { stage: waiting ? 'pending' : 'applied', outcome: known }), outcome: whole };
}

/** What all applies of a session came to, for the record. */
function joinApplies(earlier: ApplyOutcome | undefined, later: ApplyOutcome): ApplyOutcome {
  if (earlier === undefined) return later;
  const didNothing = !later.changes.some(({ verdict }) => verdict === 'applied');
  return {
    ...later,
    ...(didNothing && { at: earlier.at }),
    changes: joinOutcomes(earlier.changes, later.changes),
  };
}

/** The rules over bytes that no session left as they are; what --allow-suspect names is no reason to hold them back. */
function auditNewBytes(change: Change, contents: ReadonlyMap<Digest, Buffer>, policy: Policy): readonly Finding[] {
  const findings = auditChanges({
    changes: [change],
    content: (digest) => contents.get(digest),
    userRules: policy.auditRules,
    severities: policy.auditSeverities,
  });
  const allowed = matcher(policy.allowSuspect)(change.path);
  return allowed ? findings.filter(({ severity }) => severity !== 'suspect') : findings;
}
