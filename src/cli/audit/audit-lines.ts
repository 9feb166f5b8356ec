import { type MergedFinding, mergeFindings } from '../../core/report/merge-findings.ts';
import { type Finding, SEVERITY_RANK } from '../../core/types/finding.ts';
import { groupFindings, type SummaryLine } from '../../review/screen/finding-lines.ts';
import { cleanLine } from '../../terminal/clean.ts';

/** The rule on first files of a kind. */
const NEW_KIND = 'new-kind';

/**
 * The findings of an audit: a line for each file, and below it each reason with the ids of the rules that give it. First
 * files of a kind are one line together, since there can be many in an ordinary change. The worst file is first.
 */
export function auditLines(findings: readonly Finding[]): SummaryLine[] {
  const kinds = findings.filter(({ rule }) => rule === NEW_KIND);
  const { groups } = groupFindings(
    findings.filter(({ rule }) => rule !== NEW_KIND),
    (one) => one,
    ({ path }) => path,
    Number.POSITIVE_INFINITY,
  );
  const lines = [...groups.map(fileLine), ...(kinds.length === 0 ? [] : [kindsLine(kinds)])];
  return lines.toSorted((a, b) => rankOf(a) - rankOf(b));
}

const rankOf = ({ severity }: SummaryLine): number => (severity === 'info' ? 3 : SEVERITY_RANK[severity]);

function fileLine(group: readonly Finding[]): SummaryLine {
  const [worst] = group as readonly [Finding, ...Finding[]];
  const { severity } = worst;
  const warning = severity === 'note' ? '' : 'WARNING: ';
  const head = `${warning}${cleanLine(worst.title)}: ${cleanLine(worst.path)}${severity === 'blocked' ? ' (BLOCKED)' : ''}`;
  return { text: [head, ...mergeFindings(group).map((one) => reasonLine(one, worst.title))].join('\n'), severity };
}

/** '  line 2: Downloaded text that is run: curl x | sh (build-make, shell-pipe)'. */
function reasonLine({ finding, rules, title }: MergedFinding<Finding>, headTitle: string): string {
  const { detail, line, why } = finding;
  const place = line !== undefined && !/^line \d/.test(detail ?? '') ? `line ${line}: ` : '';
  const own = title === headTitle ? [] : [title];
  const what = detail === undefined ? (own.length > 0 ? own : [why]) : [...own, detail];
  const text = what.filter((part) => part !== '').join(': ') || title;
  return `  ${place}${cleanLine(text)} (${rules.map(cleanLine).join(', ')})`;
}

/** 'New kinds of files: *.rb: 1 file, *.lua: 2 files (new-kind)'. */
function kindsLine(kinds: readonly Finding[]): SummaryLine {
  const ranked = kinds.toSorted((a, b) => SEVERITY_RANK[a.severity] - SEVERITY_RANK[b.severity]);
  const severity = ranked[0]?.severity ?? 'note';
  const warning = severity === 'note' ? '' : 'WARNING: ';
  // Where nobody is asked, each file has its own finding, with the kind as its detail.
  const counts = new Map<string, number>();
  for (const { detail = '' } of ranked) counts.set(detail, (counts.get(detail) ?? 0) + 1);
  const texts = [...counts].map(([kind, count]) => `${cleanLine(kind)}${count > 1 ? `: ${count} files` : ''}`);
  return { text: `${warning}New kinds of files: ${texts.join(', ')} (${NEW_KIND})`, severity };
}
