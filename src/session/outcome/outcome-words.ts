import type { Finding, Severity } from '../../core/types/finding.ts';
import type { Review } from '../../core/types/review.ts';
import type { ChangeOutcome } from '../../core/types/session.ts';
import { isTogetherReason } from '../../review/apply/sets/in-use.ts';
import type { HeldBack } from '../../review/choices/held-back.ts';
import { withheldLines } from '../../review/screen/summary.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { APPLIED_SINCE } from './applied-since.ts';

// What became of single changes, in the last lines of a command: whatever decides its exit status is named here.

/** More are only counted. */
const MAX_NAMED = 10;
/** Up to this many files of one thing are named. */
const MAX_FILES_OF_THING = 4;

/**
 * The changes that the user has to know about: conflicts, failures, and what was applied with a note. Files of one thing are
 * one line, with the reason of the file that has one of its own. Cleaned.
 */
export function troubleLines(changes: readonly ChangeOutcome[]): string[] {
  const told = new Set<string>();
  return changes.flatMap((change) => {
    const { path, verdict, why, thing } = change;
    if (verdict !== 'conflict' && verdict !== 'failed')
      return (verdict === 'applied' && why) || why === APPLIED_SINCE ? [line('applied', path, why)] : [];
    if (thing === undefined) return [line(verdict, path, why)];
    if (told.has(thing)) return [];
    told.add(thing);
    const all = changes.filter(
      (one) => one.thing === thing && (one.verdict === 'conflict' || one.verdict === 'failed'),
    );
    const lead = all.find((one) => one.why !== undefined && !isTogetherReason(one.why)) ?? change;
    const named = all.slice(0, MAX_FILES_OF_THING).map((one) => one.path);
    const more = all.length - named.length;
    return [line(lead.verdict, `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`, lead.why)];
  });
}

/** What is held back, at most ten lines. Cleaned. */
export function heldLines(held: readonly HeldBack[]): string[] {
  const lines = held
    .slice(0, MAX_NAMED)
    .map(({ path, verdict, why }) => `left: ${cleanLine(path)} (${verdict}: ${cleanLine(why)})`);
  const more = held.length - MAX_NAMED;
  return more > 0 ? [...lines, `left: ${more} more that are held back`] : lines;
}

/** Of an apply without a change that could be applied: that, and what is withheld. Cleaned. */
export function nothingLines(review: Review): string[] {
  return [
    'Nothing to apply: no file that can be applied was changed.',
    ...withheldLines(review).map(({ text }) => text),
  ];
}

/** Why --fail-on makes the exit status 121. Cleaned; undefined where it does not. */
export function failOnLine(failOn: Severity | undefined, findings: readonly Finding[]): string | undefined {
  const [first] = findings;
  if (failOn === undefined || first === undefined) return undefined;
  const more = findings.length === 1 ? '' : `, and ${findings.length - 1} more`;
  return `--fail-on ${failOn}: ${cleanLine(first.title)}: ${cleanLine(first.path)}${more}`;
}

function line(verdict: string, path: string, why: string | undefined): string {
  return `${verdict}: ${cleanLine(path)}${why === undefined ? '' : ` (${cleanLine(why)})`}`;
}
