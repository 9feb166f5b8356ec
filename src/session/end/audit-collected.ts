import { findingsOf, isOfFailedJudging, notYetAudited } from '../../audit/findings.ts';
import { Interrupted, RunClaudeError } from '../../core/errors.ts';
import { ownVersion } from '../../core/host/package.ts';
import type { Change, Collected } from '../../core/types/entry.ts';
import type { Tell } from '../../core/types/event.ts';
import type { Finding } from '../../core/types/finding.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { CollectedRecord, SessionRecord } from '../../core/types/session.ts';
import { askedFor } from '../../review/choices/build-review.ts';
import type { ChangeJudge } from '../../review/judging/change-judge.ts';
import { policySettings } from '../../review/judging/policy-settings.ts';
import type { AuditSettings } from '../../review/judging/protocol.ts';
import { maxEntryBytes } from '../../workspace/base/generation.ts';
import { readCollected, writeCollected } from '../record/session.ts';
import type { UserDeps } from '../stage/deps.ts';
import { openSessionJudge } from './session-judge.ts';

/** The findings of an audit, and what of it is missing. */
export type AuditResult = Pick<CollectedRecord, 'findings' | 'unaudited' | 'unjudged'>;

/** The time by which a session ended, in nanoseconds. */
export const nowNs = (): string => String(BigInt(Date.now()) * 1_000_000n);

/**
 * Audits what was frozen in a session's directory. A change whose content is missing there is blocked.
 *
 * @throws {RunClaudeError} JUDGE_UNAVAILABLE, JUDGE_FAILED; the signal's reason.
 */
export function auditCollected(
  { changes }: Pick<Collected, 'changes'>,
  judge: ChangeJudge,
  { policy, baseDir, project }: Pick<Plan, 'policy' | 'baseDir' | 'project'>,
  { endedNs, signal, tell }: Pick<AuditSettings, 'endedNs'> & { readonly signal?: AbortSignal; readonly tell?: Tell },
): Promise<readonly Finding[]> {
  return judge.audit({
    changes: changes.map(asJudged),
    signal,
    tell,
    ...(endedNs === undefined ? {} : { endedNs }),
    ...policySettings(policy),
    pathFolders: project.pathFolders,
    maxPathBytes: maxEntryBytes(baseDir, project.root),
  });
}

/** A withheld change that the user can still ask for is judged as if it was taken. */
function asJudged(change: Change): Change {
  return change.unignored !== undefined || change.kind === 'created' ? notIgnored(change) : change;
}

function notIgnored({ ignored: _, ...change }: Change): Change {
  return change;
}

/**
 * The record with the ignored files of the project that `release` names as changes like any other, audited now: the audit
 * at the end of a session leaves them out, because most are the output of builds.
 *
 * @throws {RunClaudeError} what openSessionJudge and auditCollected throw.
 */
export async function withReleased(
  { plan, workspace }: SessionRecord,
  collected: CollectedRecord,
  release: boolean | readonly string[],
  { tell, interruption }: Pick<UserDeps, 'tell' | 'interruption'>,
): Promise<CollectedRecord> {
  const isNamed = askedFor(release);
  const isReleased = (change: Change): boolean =>
    change.ignored === true && asJudged(change).ignored === true && isNamed(change.path);
  if (!collected.changes.some(isReleased)) return collected;
  const changes = collected.changes.map((change) => (isReleased(change) ? notIgnored(change) : change));
  using judge = openSessionJudge(plan, workspace);
  const findings = await auditCollected({ changes }, judge, plan, { signal: interruption.next(), tell });
  return { ...collected, changes, findings };
}

/** Every change as one that is not audited yet: blocked, so that no command can take it for clean. */
export function withoutAudit(collected: Collected, endedNs: string): AuditResult {
  const judged = collected.changes.map(asJudged).filter(({ ignored }) => ignored !== true);
  const hits = judged.map(({ path }) => notYetAudited(path));
  return hits.length === 0 ? { findings: [] } : { findings: findingsOf(hits, undefined, []), unaudited: endedNs };
}

/** The findings of an audit that was done. */
export function auditResult(findings: readonly Finding[], endedNs: string): AuditResult {
  return findings.some(isOfFailedJudging) ? { findings, unjudged: { by: ownVersion(), endedNs } } : { findings };
}

/** The end of a session that has to be audited: it never was, or another release could not judge one of its changes. */
function endIfNotAudited({ unaudited, unjudged, findings }: CollectedRecord): string | undefined {
  if (unaudited !== undefined) return unaudited;
  if (unjudged !== undefined) return unjudged.by === ownVersion() ? undefined : unjudged.endedNs;
  // A record of a release that did not keep this.
  return findings.some(isOfFailedJudging) ? nowNs() : undefined;
}

/**
 * Audits a session now that was collected without an audit, or one whose changes another release could not judge, and
 * keeps the result; any other session is left as it is.
 *
 * @throws {RunClaudeError} what openSessionJudge and auditCollected throw.
 */
export async function auditIfMissing(record: SessionRecord, deps: UserDeps): Promise<void> {
  const { plan, workspace } = record;
  const collected = collectedIfAny(plan.sessionDir);
  const endedNs = collected === undefined ? undefined : endIfNotAudited(collected);
  if (collected === undefined || endedNs === undefined) return;
  const { unaudited: _, unjudged: _unjudged, ...rest } = collected;
  deps.tell({ kind: 'message', level: 'info', text: `Auditing the changes of session ${record.id}...` });
  using judge = openSessionJudge(plan, workspace);
  const findings = await auditCollected(rest, judge, plan, {
    endedNs,
    signal: deps.interruption.next(),
    tell: deps.tell,
  });
  writeCollected(plan.sessionDir, { ...rest, ...auditResult(findings, endedNs) });
}

function collectedIfAny(sessionDir: string): CollectedRecord | undefined {
  try {
    return readCollected(sessionDir);
  } catch (error) {
    if (error instanceof RunClaudeError && ['NOTHING_COLLECTED', 'SESSION_FAILED'].includes(error.code))
      return undefined;
    throw error;
  }
}

/** The reason why an audit has no result yet, for a warning; undefined where the user interrupted it. */
export function whyUnaudited(error: unknown): string | undefined {
  if (error instanceof Interrupted) return undefined;
  if (error instanceof RunClaudeError) return error.message;
  throw error;
}
