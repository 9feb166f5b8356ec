import type { Explanation, RuleExplanation } from './explain.ts';
import type { JudgeExplanation } from './judges/explain-judge.ts';

/** More lines of one list are only counted. */
const MAX_LISTED = 20;

/** An explanation as lines of text, cleaned as its parts are. */
export function explanationLines({ path, kind, findings, reach, rules }: Explanation): string[] {
  const worst = findings[0]?.severity ?? 'no finding';
  return [
    `${path}: ${kind}, ${worst}`,
    '',
    ...findings.flatMap(({ severity, rule, title, detail, why }) => [
      `${severity}  ${rule}: ${title}${detail === undefined ? '' : ` (${detail})`}`,
      `    ${why}`,
    ]),
    ...(findings.length === 0 ? [] : ['']),
    ...(reach.length === 0 ? [] : [`Named by: ${reach.join(', which is named by ')}`, '']),
    rules.length === 0 ? 'No rule is for files of this name.' : 'Rules for files of this name:',
    ...rules.flatMap(ruleLines),
    'The rules for every file (its name, kind, mode and content) have no finding but those above.',
  ];
}

function ruleLines({ rule, always, judges }: RuleExplanation): string[] {
  return [`  ${rule}`, ...(always ? ['    reports any change'] : []), ...judges.flatMap(judgeLines)];
}

function judgeLines({ looksFor, counts, plain }: JudgeExplanation): string[] {
  const nothing = counts.length === 0 && plain.length === 0 && looksFor !== 'any change';
  return [
    `    looks for ${looksFor}${nothing ? ': nothing new that it reads' : ''}`,
    ...shown(counts.map((what) => `      counts  ${what}`)),
    ...shown(plain.flatMap(({ what, why }) => [`      plain   ${what}`, `              ${why}`])),
  ];
}

function shown(lines: readonly string[]): string[] {
  if (lines.length <= MAX_LISTED) return [...lines];
  return [...lines.slice(0, MAX_LISTED), `      and ${lines.length - MAX_LISTED} more lines (--json has all)`];
}
