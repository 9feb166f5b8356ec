import { EXIT } from '../../core/errors.ts';
import { rendererFor } from '../../core/report/render.ts';
import type { Report } from '../../core/report/schema.ts';
import type { Severity } from '../../core/types/finding.ts';
import type { Review } from '../../core/types/review.ts';
import { reachesSeverity } from '../../review/choices/findings.ts';
import type { SummaryLine } from '../../review/screen/finding-lines.ts';
import { auditReport } from '../../session/end/report/write-report.ts';
import type { ReportPlace } from '../../session/stage/deps.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { VERDICT_STATUS, type Verdict, verdictOf } from './verdict.ts';

export interface AuditResult {
  readonly review: Review;
  readonly lines: readonly SummaryLine[];
  readonly project: string;
  /** What was audited, where it is not a session. */
  readonly label?: string;
  readonly base?: string | undefined;
  /** Of the policy. */
  readonly failOn: Severity | undefined;
}

/** Where the outcome is written: known before anything is read, so that a wrong --report fails first. */
export interface Output {
  readonly place: ReportPlace | undefined;
  /** Of the command line: it replaces the policy's. */
  readonly failOn: Severity | undefined;
  readonly json: boolean;
  readonly write: (text: string) => void;
}

/** How an audit ended. */
export interface Concluded {
  readonly verdict: Verdict;
  /** Of the command. */
  readonly status: number;
  readonly report: Report;
}

/** Prints and writes the findings and the verdict. */
export async function conclude(
  { review, lines, project, label, base, failOn }: AuditResult,
  output: Output,
): Promise<Concluded> {
  const verdict = verdictOf(review);
  const status = reachesSeverity(output.failOn ?? failOn, review) ? EXIT.heldBack : VERDICT_STATUS[verdict];
  const report = await auditReport(review, project, status, base);
  if (output.json) output.write(rendererFor('x.json')(report));
  else {
    if (label !== undefined) output.write(`${cleanLine(label)}\n`);
    for (const { text } of lines) output.write(`${text}\n`);
    output.write(`${verdictLine(verdict, status)}\n`);
  }
  output.place?.write(report);
  return { verdict, status, report };
}

/** 'Verdict: needs a person (exit status 123)'. */
export function verdictLine(verdict: Verdict, status: number): string {
  return `Verdict: ${verdict} (exit status ${status})`;
}
