import { statSync } from 'node:fs';
import path from 'node:path';
import { allRules } from '../../../audit/catalogue.ts';
import { explanationLines } from '../../../audit/explanation-lines.ts';
import { EXIT, usageError } from '../../../core/errors.ts';
import { jsonText } from '../../../core/report/json.ts';
import { rendererFor } from '../../../core/report/render.ts';
import type { Severity } from '../../../core/types/finding.ts';
import type { Review } from '../../../core/types/review.ts';
import { reachesSeverity } from '../../../review/choices/findings.ts';
import { auditCommitRange } from '../../../review/commits/audit-commit-range.ts';
import { explainFile } from '../../../review/commits/explain-file.ts';
import type { SummaryLine } from '../../../review/screen/finding-lines.ts';
import { summaryLines } from '../../../review/screen/summary.ts';
import { auditIfMissing } from '../../../session/end/audit-collected.ts';
import { reviewOf } from '../../../session/end/frozen-review.ts';
import { shownLines, shownReview } from '../../../session/end/shown-review.ts';
import { auditReport, reportPlace } from '../../../session/end/write-report.ts';
import type { ReportPlace } from '../../../session/stage/deps.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import { type CommandContext, type CommandRun, optionChoice, optionValue } from '../../context/context.ts';
import type { CommandLineOfCommand } from '../../grammar/parse-command-line.ts';
import { readPolicy } from '../../policy/read-policy.ts';
import { withSession } from '../../sessions/open-session.ts';

const LEVELS: readonly Severity[] = ['note', 'suspect', 'blocked'];

/**
 * `audit [PATH] --base REF` audits a branch, `audit [ID]` a session. `audit --rules` lists the rules, `audit --explain FILE`
 * says what they make of one file.
 */
export const auditCommand: CommandRun = async (line, context) => {
  if (line.options.has('rules')) return listRules(line, context);
  if (line.options.has('explain')) return explain(line, context);
  const file = optionValue(line, 'report');
  const output: Output = {
    place: file === undefined ? undefined : reportPlace(file, context.cwd),
    failOn: optionChoice(line, 'fail-on', LEVELS),
    json: line.options.has('json'),
    write: context.write,
  };
  const range = optionValue(line, 'base');
  const [word] = line.words;
  if (range === undefined) {
    if (word !== undefined && statSync(path.resolve(context.cwd, word), { throwIfNoEntry: false })?.isDirectory()) {
      throw usageError(`audit ${word}: no base to compare with`, `Write run-claude audit ${word} --base main.`);
    }
    return withSession(line, context, 'audit', async (record, deps) => {
      await auditIfMissing(record, deps);
      const { failOn } = record.plan.policy;
      const review = shownReview(record) ?? reviewOf(record);
      const lines = shownLines(record, review, Number.POSITIVE_INFINITY);
      return conclude({ review, lines, project: record.project, failOn }, output);
    });
  }
  const { policy, project, warnings } = await readPolicy(word, [], context);
  for (const text of warnings) context.tell({ kind: 'message', level: 'warning', text });
  const { review, base } = await auditCommitRange(project.root, range, policy, context.env, {
    signal: context.interruption.signal,
    tell: context.tell,
  });
  const lines = summaryLines(review, Number.POSITIVE_INFINITY);
  return conclude({ review, lines, project: project.root, base, failOn: policy.failOn }, output);
};

interface AuditResult {
  readonly review: Review;
  readonly lines: readonly SummaryLine[];
  readonly project: string;
  readonly base?: string;
  readonly failOn: Severity | undefined;
}

/** Where the outcome is written: known before anything is read, so that a wrong --report fails first. */
interface Output {
  readonly place: ReportPlace | undefined;
  readonly failOn: Severity | undefined;
  readonly json: boolean;
  readonly write: (text: string) => void;
}

/** Prints and writes the findings. Returns the exit status. */
function conclude({ review, lines, project, base, failOn }: AuditResult, output: Output): number {
  const status = reachesSeverity(output.failOn ?? failOn, review) ? EXIT.heldBack : EXIT.ok;
  const report = auditReport(review, project, status, base);
  if (output.json) output.write(rendererFor('x.json')(report));
  else for (const { text } of lines) output.write(`${text}\n`);
  output.place?.write(report);
  return status;
}

async function explain(line: CommandLineOfCommand, context: CommandContext): Promise<number> {
  const file = path.resolve(context.cwd, optionValue(line, 'explain') ?? '');
  const { policy, project, warnings } = await readPolicy(line.words[0], [], context);
  for (const text of warnings) context.tell({ kind: 'message', level: 'warning', text });
  const ref = optionValue(line, 'base') ?? 'HEAD';
  const explanation = await explainFile({ folder: project.root, file, ref, policy, env: context.env });
  if (line.options.has('json')) context.write(jsonText(explanation ?? null));
  else if (explanation === undefined) context.write(`${cleanLine(file)} is as ${ref} has it.\n`);
  else for (const text of explanationLines(explanation)) context.write(`${cleanLine(text)}\n`);
  return EXIT.ok;
}

function listRules(line: CommandLineOfCommand, context: CommandContext): number {
  const rules = allRules();
  const width = Math.max(...rules.map(({ id }) => id.length));
  if (line.options.has('json')) context.write(jsonText(rules));
  else
    for (const { id, severity, title, trigger } of rules)
      context.write(`${id.padEnd(width)}  ${severity.padEnd(7)}  ${title}: ${trigger}\n`);
  return EXIT.ok;
}
