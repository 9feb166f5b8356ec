import { costText } from '../text/cost.ts';
import { visible } from '../text/visible.ts';
import { durationText } from '../text/when.ts';
import type { Report, ReportedFinding } from './schema.ts';

/** GitHub refuses comments of more than 65,536 characters, GitLab of 1,000,000. */
const MAX_COMMENT_CHARS = 60_000;
const HEADINGS = {
  blocked: 'Blocked: never applied',
  suspect: 'Suspect: needs a yes by name',
  note: 'Notes',
} as const;

/**
 * The report as Markdown for a pull-request comment. Text of the session is in code spans only, so that it can
 * neither mention people, nor link, nor show an image. What does not fit is counted.
 */
export function markdownReport(report: Report): string {
  const { counts, severities } = report;
  const { renamed = 0, ...all } = counts;
  const once = { ...all, created: all.created - renamed, deleted: all.deleted - renamed, renamed };
  const changed = (Object.entries(once) as [keyof typeof once, number][])
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${WORDS[kind]}`);
  const lines = [
    '### run-claude audit',
    '',
    `${changed.length === 0 ? 'No files changed' : changed.join(', ')}. ` +
      `**${severities.blocked} blocked, ${severities.suspect} suspect, ${severities.note} ${severities.note === 1 ? 'note' : 'notes'}.**`,
    ...aboutSession(report),
  ];
  if (report.massDeletion !== undefined) {
    const { deleted, of } = report.massDeletion;
    lines.push('', `**Deletes ${deleted} of ${of} entries.**`);
  }
  for (const problem of report.problems) lines.push('', `- Unreadable: ${code(problem.path)}: ${code(problem.why)}`);
  let length = lines.join('\n').length;
  let left = 0;
  for (const severity of ['blocked', 'suspect', 'note'] as const) {
    const rows = byFile(report.findings.filter((one) => one.severity === severity)).map((findings) => ({
      text: rowOf(findings),
      findings,
    }));
    if (rows.length === 0) continue;
    const head = ['', `#### ${HEADINGS[severity]}`, '', '| file | what | why |', '| --- | --- | --- |'];
    const fitting = rows.filter(({ text, findings }) => {
      length += text.length + 1;
      const fits = length < MAX_COMMENT_CHARS;
      if (!fits) left += findings.length;
      return fits;
    });
    if (fitting.length > 0) for (const line of [...head, ...fitting.map(({ text }) => text)]) lines.push(line);
  }
  if (left > 0) lines.push('', `**${left} more findings do not fit here**; the JSON report has all of them.`);
  return `${lines.join('\n')}\n`;
}

const WORDS = {
  created: 'created',
  modified: 'modified',
  deleted: 'deleted',
  renamed: 'renamed',
  mode: 'with another mode',
  type: 'of another kind',
} as const;

function aboutSession({ session, base, exitStatus, files, network, tests = [] }: Report): string[] {
  if (base !== undefined) return ['', `Compared with ${code(base)}.`];
  if (session === undefined) return [];
  const { failure } = session;
  const failed = failure && `failed at its start with ${failure.code}, ${code(failure.message.split('\n')[0] ?? '')}`;
  const inPlace = files === undefined ? 'the changes are in the project' : progressLine(files);
  const done = failed ?? (session.discarded ? 'discarded' : inPlace);
  const stopped = session.stoppedBecause === undefined ? '' : `, stopped: ${code(session.stoppedBecause)}`;
  const agent = session.agentStatus === undefined ? '' : `, agent ended with ${session.agentStatus}`;
  const lines = ['', `Session ${code(session.id)}: ${done}${agent}${stopped}, exit status ${exitStatus}.`];
  const { usage } = session;
  if (usage !== undefined && usage.requests > 0)
    lines.push(`Requests to the model: ${usage.requests}, ${costText(usage.costUsd)}.`);
  const refused = new Set(network?.flatMap((row) => (row.refused > 0 ? [row.host] : [])));
  const shown = [...refused].slice(0, 10).map(code).join(', ');
  if (refused.size > 0) lines.push(`Hosts refused: ${shown}${refused.size > 10 ? `, ${refused.size - 10} more` : ''}.`);
  for (const { name, verdict, ms, why, changed } of tests) {
    const reason = why === undefined ? '' : `, ${code(why)}`;
    const files = changed.length === 0 ? '' : `; the session changed ${changed.map(code).join(', ')}`;
    lines.push('', `Test ${code(name)}: **${TEST_WORDS[verdict]}** (${durationText(ms)})${reason}${files}.`);
  }
  return lines;
}

const TEST_WORDS: Readonly<Record<NonNullable<Report['tests']>[number]['verdict'], string>> = {
  passed: 'passed',
  failed: 'failed',
  'failed-before': 'failed before too',
  'timed-out': 'timed out',
  'not-run': 'not run',
};

/** '3 of 5 files applied, 2 left'. */
function progressLine({ total, applied, left, blocked }: NonNullable<Report['files']>): string {
  const never = blocked === 0 ? '' : `, ${blocked} blocked`;
  return `${applied} of ${total} ${total === 1 ? 'file' : 'files'} applied${left === 0 ? '' : `, ${left} left`}${never}`;
}

function byFile(findings: readonly ReportedFinding[]): readonly (readonly ReportedFinding[])[] {
  const files = new Map<string, ReportedFinding[]>();
  for (const finding of findings) {
    const known = files.get(finding.path);
    if (known === undefined) files.set(finding.path, [finding]);
    else known.push(finding);
  }
  return [...files.values()];
}

/** One row for a file; its findings are lines in the row's cells. */
function rowOf(findings: readonly ReportedFinding[]): string {
  const [path = ''] = findings.map((one) => one.path);
  const what = findings.map(({ title, detail, rule, line }) => {
    const where = line === undefined ? '' : `line ${line}: `;
    return `${where}${detail === undefined ? plain(title) : `${plain(title)}: ${code(detail)}`} (${code(rule)})`;
  });
  const why = [...new Set(findings.map((one) => plain(one.why)))];
  return `| ${code(path)} | ${what.join('<br>')} | ${why.join('<br>')} |`;
}

/** A code span that nothing in the text can end, safe in a table's cell. */
function code(text: string): string {
  // After a backslash a table's parser would take `\\|` for the end of the cell.
  const shown = visible(text).replace(/(\\*)\|/g, (_, slashes: string) =>
    slashes === '' ? '\\|' : `${slashes}\\u{7c}`,
  );
  // Two fences with nothing between them are one longer fence, which would open a span.
  if (shown === '') return '(empty)';
  const longest = (shown.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 0);
  const fence = '`'.repeat(longest + 1);
  const pad = /^[`\s]|[`\s]$/.test(shown) ? ' ' : '';
  return `${fence}${pad}${shown}${pad}${fence}`;
}

/** Text of a rule, escaped: rules of a configuration file may come with the repository. */
function plain(text: string): string {
  return visible(text).replace(/[\\`*_{}[\]<>()#+!|@~&:/]/g, (char) => `&#${char.charCodeAt(0)};`);
}
