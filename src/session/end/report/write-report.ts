import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { EXIT, RunClaudeError, usageError } from '../../../core/errors.ts';
import { ownVersion } from '../../../core/host/package.ts';
import { rendererFor } from '../../../core/report/render.ts';
import type { Report } from '../../../core/report/schema.ts';
import { writeFileAtomic } from '../../../core/store/record.ts';
import type { Finding } from '../../../core/types/finding.ts';
import type { Choice, Review } from '../../../core/types/review.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { type HostTotal, networkTotals } from '../../../network/gateway/network-log.ts';
import { readUsage } from '../../../network/gateway/usage.ts';
import { countsWithoutRenames } from '../../../review/choices/counts.ts';
import { countProgress, fileProgress } from '../../../review/choices/file-progress.ts';
import { reportedFindings } from '../../../review/choices/findings.ts';
import { wasCollected } from '../../record/session.ts';
import type { ReportPlace } from '../../stage/deps.ts';
import { reviewOf } from '../frozen-review.ts';
import { countsInPlace } from './in-place-counts.ts';
import { OWN_REPORT, readOwnReport } from './own-report.ts';

/** Read when this is loaded, since run-claude may be replaced on the disk while the session runs. */
const TOOL = { name: 'run-claude', version: ownVersion() } as const;

export interface ReportedSession {
  readonly record: SessionRecord;
  readonly review: Review;
  readonly choice: Pick<Choice, 'decided' | 'discard'>;
  readonly exitStatus: number;
}

/** The outcome of a session, as `--report` writes it. */
export async function sessionReport({ record, review, choice, exitStatus }: ReportedSession): Promise<Report> {
  const { id, plan, started, agentStatus, stoppedBecause, failure, outcome, tests } = record;
  const usage = record.usage ?? readUsage(plan.sessionDir);
  const hosts = networkTotals(plan.sessionDir).filter(({ quiet }) => !quiet);
  return {
    ...(await auditReport(review, plan.project.root, exitStatus)),
    kind: 'session',
    session: {
      id,
      mode: plan.mode,
      strategy: plan.strategy,
      started,
      ...(agentStatus === undefined ? {} : { agentStatus }),
      ...(stoppedBecause === undefined ? {} : { stoppedBecause }),
      ...(failure === undefined ? {} : { failure: { ...failure } }),
      decided: choice.decided,
      discarded: choice.discard,
      ...(usage === undefined ? {} : { usage: { ...usage } }),
    },
    ...(hosts.length === 0 ? {} : { network: hosts.map(networkRow) }),
    files: plan.mode === 'bind' ? countsInPlace(review) : countProgress(fileProgress(review, outcome?.changes ?? [])),
    ...(tests === undefined
      ? {}
      : { tests: tests.map((test) => ({ ...test, lines: [...test.lines], changed: [...test.changed] })) }),
    ...(outcome === undefined
      ? {}
      : { outcome: outcome.changes.map(({ ways, ...change }) => ({ ...change, ...(ways && { ways: [...ways] }) })) }),
  };
}

/** The report of a session whose start failed: it has the reason, and no changes. */
export function reportOfFailed(record: SessionRecord, exitStatus: number): Promise<Report> {
  const collected = { version: 1 as const, changes: [], problems: [], withheld: [], baseEntries: 0, findings: [] };
  const review = reviewOf(record, collected);
  return sessionReport({ record, review, choice: { decided: false, discard: false }, exitStatus });
}

/**
 * The report of a session that has ended, as it is now. The exit status is that of the last decision.
 *
 * @throws {RunClaudeError} NOTHING_COLLECTED while there is nothing to report, and what {@link readOwnReport} throws.
 */
export async function reportOfEnded(record: SessionRecord, review: () => Review): Promise<Report> {
  const { sessionDir, mode } = record.plan;
  const own = readOwnReport(sessionDir);
  // What a bind session changed is in its own report alone.
  if (mode === 'bind' && own !== undefined) return own;
  if (record.stage === 'failed' && !wasCollected(sessionDir)) return reportOfFailed(record, EXIT.failed);
  const choice = { decided: record.outcome !== undefined, discard: record.stage === 'discarded' };
  const exitStatus = own?.exitStatus ?? record.agentStatus ?? 0;
  return sessionReport({ record, review: review(), choice, exitStatus });
}

function networkRow({ host, port, passed, refused, failed, up, down, why }: HostTotal) {
  return { host, port, passed, refused, failed, bytesOut: up, bytesIn: down, ...(why === undefined ? {} : { why }) };
}

/** The report of an audit alone; {@link sessionReport} adds to it. */
export async function auditReport(review: Review, project: string, exitStatus: number, base?: string): Promise<Report> {
  const findings = reportedFindings(review);
  const severities = { blocked: 0, suspect: 0, note: 0 };
  for (const { severity } of findings) severities[severity] += 1;
  return {
    version: 1,
    tool: TOOL,
    kind: 'audit',
    project,
    exitStatus,
    ...(base === undefined ? {} : { base }),
    counts: { ...countsWithoutRenames(review.counts), renamed: review.counts.renamed },
    severities,
    ...(review.massDeletion === undefined ? {} : { massDeletion: review.massDeletion }),
    changes: review.items.map(({ change, state, renamedFrom, similarity }) => ({
      path: change.path,
      kind: change.kind,
      state,
      ...(renamedFrom === undefined ? {} : { renamedFrom }),
      ...(similarity === undefined ? {} : { similarity }),
    })),
    findings: findings.map((finding) => ({ ...finding })),
    rules: await rulesOf(findings),
    problems: review.problems.map((problem) => ({ ...problem })),
    withheld: review.withheld.map(({ directory, entries, bytes }) => ({ directory, entries, bytes })),
  };
}

/** The rules of the findings. They are loaded where there is a finding: they are most of what the audit is. */
async function rulesOf(findings: readonly Pick<Finding, 'rule'>[]): Promise<Report['rules']> {
  if (findings.length === 0) return [];
  const { rulesNamed } = await import('../../../audit/catalogue.ts');
  return rulesNamed(findings.map(({ rule }) => rule)).map(({ id, title, trigger, why, source }) => ({
    id,
    title,
    trigger,
    why,
    source,
  }));
}

/**
 * The file that the user named for a report. Its directory must exist now, and be the same one when the report is written:
 * in bind mode the agent could replace it with a link in the meantime.
 *
 * @throws {RunClaudeError} USAGE where the file cannot be written.
 */
export function reportPlace(file: string, cwd: string): ReportPlace {
  const render = rendererFor(file);
  const full = path.resolve(cwd, file);
  const directory = realDirectory(path.dirname(full));
  if (directory === undefined) throw usageError(`--report ${file}: there is no such folder`);
  if (statSync(full, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw usageError(`--report ${file}: that is a folder`);
  }
  return {
    write: (report) => {
      if (realDirectory(path.dirname(full)) !== directory) {
        throw new RunClaudeError(
          'REPORT_MOVED',
          `the folder of ${file} was replaced during the session; no report was written there`,
          {
            hint: `The report is in the session's own directory, as ${OWN_REPORT}.`,
          },
        );
      }
      writeFileAtomic(path.join(directory, path.basename(full)), render(report));
    },
  };
}

function realDirectory(dir: string): string | undefined {
  const stat = statSync(dir, { throwIfNoEntry: false });
  return stat?.isDirectory() === true ? realpathSync(dir) : undefined;
}
