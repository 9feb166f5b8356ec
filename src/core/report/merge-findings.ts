import type { ReportedFinding } from './schema.ts';

/** What of a finding decides whether another one says the same. */
export type MergeableFinding = Pick<ReportedFinding, 'rule' | 'severity' | 'title' | 'why' | 'detail' | 'line'>;

/** One or several findings that say the same of one line. */
export interface MergedFinding<T extends MergeableFinding> {
  /** The first of them: the others add their rules and a more exact title. */
  readonly finding: T;
  /** Ids, without repetition. */
  readonly rules: readonly string[];
  /** The most exact title. */
  readonly title: string;
  readonly why: readonly string[];
}

/** Titles that say no more than that a file changed. */
const GENERAL_TITLE = /^Suspect file |changed$/;

/** The findings of one file, of which those that say the same of one line are one. Pure. */
export function mergeFindings<T extends MergeableFinding>(findings: readonly T[]): readonly MergedFinding<T>[] {
  const merged: MergedFinding<T>[] = [];
  for (const finding of findings) {
    const at = merged.findIndex((one) => saysSame(one.finding, finding) || saysSame(finding, one.finding));
    const known = merged[at];
    if (known === undefined) merged.push({ finding, rules: [finding.rule], title: finding.title, why: [finding.why] });
    else merged[at] = joined(known, finding);
  }
  return merged;
}

function joined<T extends MergeableFinding>(known: MergedFinding<T>, finding: T): MergedFinding<T> {
  // The longer detail names the line and what else the rule found there.
  const isLonger = (finding.detail?.length ?? 0) > (known.finding.detail?.length ?? 0);
  const isWorse = finding.severity === known.finding.severity || finding.severity === 'blocked';
  return {
    finding: isLonger && isWorse ? finding : known.finding,
    rules: [...new Set([...known.rules, finding.rule])],
    title: GENERAL_TITLE.test(known.title) ? finding.title : known.title,
    why: [...new Set([...known.why, finding.why])],
  };
}

/** Whether a finding has all that a second one says, of the same line. */
function saysSame(one: MergeableFinding, second: MergeableFinding): boolean {
  if (one.detail === undefined || second.detail === undefined) return false;
  if (one.rule === second.rule) return one.detail === second.detail && one.line === second.line;
  const isOther = one.line !== undefined && second.line !== undefined && one.line !== second.line;
  return !isOther && hasPart(one.detail, second.detail.replace(/^line \d+: /, ''));
}

/** Whether a part of a detail is this text: parts end with '; ', and may begin with a place. */
function hasPart(detail: string, part: string): boolean {
  if (part === '') return false;
  for (let at = detail.indexOf(part); at >= 0; at = detail.indexOf(part, at + 1)) {
    const before = detail.slice(0, at);
    const end = detail.slice(at + part.length);
    const isStart = before === '' || before.endsWith('; ') || /(?:^|; )line \d+: $/.test(before);
    if (isStart && (end === '' || end.startsWith('; '))) return true;
  }
  return false;
}
