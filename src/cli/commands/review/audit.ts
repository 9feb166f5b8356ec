import path from 'node:path';
import { allRules } from '../../../audit/catalogue.ts';
import { explanationLines } from '../../../audit/explanation-lines.ts';
import { EXIT } from '../../../core/errors.ts';
import { jsonText } from '../../../core/report/json.ts';
import type { Severity } from '../../../core/types/finding.ts';
import { explainFile } from '../../../review/commits/audit/explain-file.ts';
import { summaryLines } from '../../../review/screen/summary.ts';
import { auditIfMissing, reviewOf } from '../../../session/end/frozen-review.ts';
import { shownLines, shownReview } from '../../../session/end/report/shown-review.ts';
import { reportPlace } from '../../../session/end/report/write-report.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import { auditLines } from '../../audit/audit-lines.ts';
import { auditedSources } from '../../audit/audited-sources.ts';
import { askedChanges } from '../../audit/changes-of.ts';
import { type Concluded, conclude, type Output } from '../../audit/conclude.ts';
import type { AuditedPullRequest } from '../../audit/platforms/audit-pull-request.ts';
import { postVerdict } from '../../audit/platforms/post-verdict.ts';
import { mergeSources } from '../../audit/sources/merge-sources.ts';
import type { AuditedSource } from '../../audit/sources/source.ts';
import { writeBaseline } from '../../audit/write-baseline.ts';
import { type CommandContext, type CommandRun, optionChoice, optionValue } from '../../context/context.ts';
import type { CommandLineOfCommand } from '../../grammar/parse-command-line.ts';
import { readPolicy } from '../../policy/read-policy.ts';
import { withSession } from '../../sessions/open-session.ts';

const LEVELS: readonly Severity[] = ['note', 'suspect', 'blocked'];

/**
 * `audit` judges commits, the index, a push, a patch or a session, and ends with the status of its verdict. `audit --rules`
 * lists the rules, `audit --explain FILE` says what they make of one file.
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
  const asked = await askedChanges(line, context);
  if (asked.kind === 'session')
    return withSession(line, context, 'audit', async (record, deps) => {
      await auditIfMissing(record, deps);
      const { failOn } = record.plan.policy;
      const review = shownReview(record) ?? reviewOf(record);
      const lines = shownLines(record, review, Number.POSITIVE_INFINITY, auditLines);
      return (await conclude({ review, lines, project: record.project, failOn }, output)).status;
    });
  const audited: readonly (AuditedSource & Partial<AuditedPullRequest>)[] = await auditedSources(asked, context);
  if (line.options.has('write-baseline')) {
    const { items, general } = mergeSources(audited).review;
    await writeBaseline([...items.flatMap(({ findings }) => findings), ...general], {
      ...context,
      folder: asked.folder,
    });
  }
  const concluded = await concludeSources(audited, asked.folder, output);
  const pullRequest = audited[0]?.pullRequest;
  if (!line.options.has('post') || pullRequest === undefined) return concluded.status;
  return postVerdict({ pullRequest, ...concluded, env: context.env, tell: context.tell });
};

/** One outcome for what a command line names: a push may have several refs. */
function concludeSources(audited: readonly AuditedSource[], folder: string, output: Output): Promise<Concluded> {
  const linesOf = ({ review }: AuditedSource) => summaryLines(review, Number.POSITIVE_INFINITY, undefined, auditLines);
  const { review, policy, base, label } = mergeSources(audited);
  const lines = audited.flatMap((one, at) => [
    ...(at === 0 ? [] : [{ text: cleanLine(one.label), severity: 'info' } as const]),
    ...linesOf(one),
  ]);
  return conclude({ review, lines, project: folder, label, base, failOn: policy?.failOn }, output);
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
