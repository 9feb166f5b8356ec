import type { Tell } from '../../core/types/event.ts';
import { type Finding, SEVERITY_RANK } from '../../core/types/finding.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { isRehearsed } from '../choices/findings.ts';

/** Text for the screen, without prefix, cleaned. Its lines after the first are indented: they belong to the first. */
export interface SummaryLine {
  readonly text: string;
  readonly severity: 'info' | 'note' | 'suspect' | 'blocked';
}

/** More findings of one kind are only counted. */
export const MAX_FINDINGS_PER_KIND = 10;

/** What the line of a suspect or blocked finding ends with. */
export type LineEnd = (finding: Finding) => string;

const NOT_SYNCED: LineEnd = (finding) =>
  finding.severity === 'blocked' ? (sentEnd(finding) ?? ' (BLOCKED — not synced)') : '';

/** Of what the session sent, which is on no file that could be synced. */
export const sentEnd: (finding: Finding) => string | undefined = ({ rule }) =>
  rule === 'decoy-sent' ? ' (BLOCKED)' : undefined;

export interface GroupedFindings<T> {
  /** The findings of one file, the worst first; the worst groups first. */
  readonly groups: readonly (readonly T[])[];
  /** Findings of groups that are left out: the last one of each kind, and their number. */
  readonly more: readonly { readonly one: T; readonly count: number }[];
}

/**
 * Findings by file. A group is left out only where each of its kinds has `maxPerKind` findings in the groups before: a rare
 * finding cannot hide in a file of many common ones. `fileOf`: the file that a finding is about.
 */
export function groupFindings<T>(
  all: readonly T[],
  findingOf: (one: T) => Finding,
  fileOf: (one: T) => string,
  maxPerKind = MAX_FINDINGS_PER_KIND,
): GroupedFindings<T> {
  const rank = (one: T): number => SEVERITY_RANK[findingOf(one).severity];
  const kindOf = (one: T): string => `${findingOf(one).severity} ${findingOf(one).title}`;
  const byFile = new Map<string, T[]>();
  for (const one of all) {
    const group = byFile.get(fileOf(one));
    if (group === undefined) byFile.set(fileOf(one), [one]);
    else group.push(one);
  }
  const sorted = [...byFile.values()].map((group) => group.toSorted((a, b) => rank(a) - rank(b)));
  sorted.sort(([a], [b]) => rank(a as T) - rank(b as T));
  const shown = new Map<string, number>();
  const more = new Map<string, { one: T; count: number }>();
  const groups = sorted.filter((group) => {
    const kinds = new Set(group.map(kindOf));
    const isShown = [...kinds].some((kind) => (shown.get(kind) ?? 0) < maxPerKind);
    if (isShown) for (const kind of kinds) shown.set(kind, (shown.get(kind) ?? 0) + 1);
    else for (const one of group) more.set(kindOf(one), { one, count: (more.get(kindOf(one))?.count ?? 0) + 1 });
    return isShown;
  });
  return { groups, more: [...more.values()] };
}

/** The lines of all findings: those of a file as one text, with what is left out as a number after each severity. */
export function findingLines(
  findings: readonly Finding[],
  maxPerKind = MAX_FINDINGS_PER_KIND,
  endOf: LineEnd = NOT_SYNCED,
): SummaryLine[] {
  const { groups, more } = groupFindings(
    findings,
    (one) => one,
    ({ path }) => path,
    maxPerKind,
  );
  return (['blocked', 'suspect', 'note'] as const).flatMap((severity) => [
    ...groups.filter(([worst]) => worst?.severity === severity).map((group) => groupLine(group, maxPerKind, endOf)),
    ...more.filter(({ one }) => one.severity === severity).map(({ one, count }) => moreLine(one, count)),
  ]);
}

/** The first finding as {@link findingLine} has it, and the others of the same file indented below, without its name. */
export function groupLine(
  group: readonly Finding[],
  maxPerKind = MAX_FINDINGS_PER_KIND,
  endOf: LineEnd = NOT_SYNCED,
): SummaryLine {
  const [worst, ...others] = group as [Finding, ...Finding[]];
  const { text, severity } = findingLine(worst, endOf);
  const titles = new Map<string, number>();
  // What the audit read, and what a rehearsal saw of it.
  const titleOf = (one: Finding): string =>
    isRehearsed(one) && !isRehearsed(worst) && one.severity !== 'note' ? 'and it runs' : one.title;
  const reasons = others.flatMap((one) => {
    const { detail } = one;
    const title = titleOf(one);
    const count = (titles.get(title) ?? 0) + 1;
    titles.set(title, count);
    return count > maxPerKind ? [] : [`  ${cleanLine(title)}${detail === undefined ? '' : `: ${cleanLine(detail)}`}`];
  });
  const left = [...titles].filter(([, count]) => count > maxPerKind);
  const rest = left.map(([title, count]) => `  ${cleanLine(title)}: ${count - maxPerKind} more in this file`);
  return { text: [text, ...reasons, ...rest].join('\n'), severity };
}

/** The line of one finding, for example 'WARNING: New git hook detected: .git/hooks/pre-commit (BLOCKED — not synced)'. */
function findingLine(finding: Finding, endOf: LineEnd): SummaryLine {
  const what = `${cleanLine(finding.title)}: ${cleanLine(finding.path)}`;
  const detail = finding.detail === undefined ? '' : `: ${cleanLine(finding.detail)}`;
  const { severity } = finding;
  if (severity === 'note') return { text: `${what}${detail}`, severity };
  return { text: `WARNING: ${what}${detail}${endOf(finding)}`, severity };
}

/** 'WARNING: Vendored code changed: 62 more (l at the question, or --json, lists them all)'. */
function moreLine({ title, severity }: Finding, count: number): SummaryLine {
  const text = `${cleanLine(title)}: ${count} more (l at the question, or --json, lists them all)`;
  return { text: severity === 'note' ? text : `WARNING: ${text}`, severity };
}

/** Prints lines of a summary as messages and findings. */
export function tellLines(lines: readonly SummaryLine[], tell: Tell): void {
  for (const { text, severity } of lines) {
    if (severity === 'info') tell({ kind: 'message', level: 'info', text });
    // The printer writes WARNING itself.
    else tell({ kind: 'finding', severity, text: text.replace(/^WARNING: /, '') });
  }
}
