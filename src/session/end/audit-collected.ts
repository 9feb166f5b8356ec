import { findingsOf, isOfFailedJudging, notYetAudited } from '../../audit/findings.ts';
import { Interrupted, RunClaudeError } from '../../core/errors.ts';
import { ownVersion } from '../../core/host/package.ts';
import type { Change, Collected } from '../../core/types/entry.ts';
import type { Tell } from '../../core/types/event.ts';
import { type Finding, SEVERITY_RANK } from '../../core/types/finding.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { CollectedRecord, SessionRecord } from '../../core/types/session.ts';
import { askedFor } from '../../review/choices/build-review.ts';
import { isRehearsed } from '../../review/choices/findings.ts';
import type { ChangeJudge } from '../../review/judging/change-judge.ts';
import { policySettings } from '../../review/judging/policy-settings.ts';
import type { AuditSettings } from '../../review/judging/protocol.ts';
import { maxEntryBytes } from '../../workspace/base/generations/generation.ts';
import { writeCollected } from '../record/session.ts';
import type { UserDeps } from '../stage/deps.ts';
import { lowerWithheld, maskedValues, seenFindings } from './masked-values.ts';
import { openSessionJudge } from './session-judge.ts';

/** The findings of an audit, and what of it is missing. */
export type AuditResult = Pick<CollectedRecord, 'findings' | 'unaudited' | 'unjudged'>;

/** The time by which a session ended, in nanoseconds. */
export const nowNs = (): string => String(BigInt(Date.now()) * 1_000_000n);

/**
 * Audits what was frozen in a session's directory, with what the gateway saw of decoys. A change whose content is missing
 * there is blocked.
 *
 * @throws {RunClaudeError} JUDGE_UNAVAILABLE, JUDGE_FAILED; the signal's reason.
 */
export async function auditCollected(
  { changes }: Pick<Collected, 'changes'>,
  judge: ChangeJudge,
  plan: Pick<Plan, 'policy' | 'baseDir' | 'project' | 'sessionDir'>,
  { endedNs, signal, tell }: Pick<AuditSettings, 'endedNs'> & { readonly signal?: AbortSignal; readonly tell?: Tell },
): Promise<readonly Finding[]> {
  const { policy, baseDir, project, sessionDir } = plan;
  const masked = maskedValues(plan);
  const found = await judge.audit({
    changes: changes.map(asJudged),
    signal,
    tell,
    ...(endedNs === undefined ? {} : { endedNs }),
    ...policySettings(policy),
    pathFolders: project.pathFolders,
    maxPathBytes: maxEntryBytes(baseDir, project.root),
    ...(masked === undefined ? {} : { masked }),
  });
  return [...seenFindings(sessionDir), ...lowerWithheld(found, changes)].sort(bySeverity);
}

const bySeverity = (a: Finding, b: Finding): number => SEVERITY_RANK[a.severity] - SEVERITY_RANK[b.severity];

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
  const found = await auditCollected({ changes }, judge, plan, { signal: interruption.next(), tell });
  return { ...collected, changes, findings: withRehearsed(found, collected) };
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

/** With what a rehearsal found, which the audit does not find again. */
function withRehearsed(found: readonly Finding[], { findings }: CollectedRecord): readonly Finding[] {
  return [...found, ...findings.filter(isRehearsed)].sort(bySeverity);
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
export async function auditNow(
  { id, plan, workspace }: SessionRecord,
  collected: CollectedRecord,
  deps: UserDeps,
): Promise<void> {
  const endedNs = endIfNotAudited(collected);
  if (endedNs === undefined) return;
  const { unaudited: _, unjudged: _unjudged, ...rest } = collected;
  deps.tell({ kind: 'message', level: 'info', text: `Auditing the changes of session ${id}...` });
  using judge = openSessionJudge(plan, workspace);
  const found = await auditCollected(rest, judge, plan, {
    endedNs,
    signal: deps.interruption.next(),
    tell: deps.tell,
  });
  const findings = withRehearsed(found, collected);
  writeCollected(plan.sessionDir, { ...rest, ...auditResult(findings, endedNs) });
}

/** The reason why an audit has no result yet, for a warning; undefined where the user interrupted it. */
export function whyUnaudited(error: unknown): string | undefined {
  if (error instanceof Interrupted) return undefined;
  if (error instanceof RunClaudeError) return error.message;
  throw error;
}
