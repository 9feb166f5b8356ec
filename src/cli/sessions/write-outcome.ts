import { jsonText } from '../../core/report/json.ts';
import type { ApplyOutcome, ChangeOutcome } from '../../core/types/session.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { CommandContext } from '../context/context.ts';

export interface OutcomeStyle {
  readonly json: boolean;
  /** The word for an applied change: 'restored', 'would apply'. */
  readonly applied: string | ((path: string) => string);
}

/** Prints the outcome of each path: one line for each, or JSON. */
export function writeOutcome(
  outcome: ApplyOutcome,
  { json, applied }: OutcomeStyle,
  { write }: Pick<CommandContext, 'write'>,
): void {
  if (json) {
    write(jsonText(outcome));
    return;
  }
  const words = ({ path, verdict }: ChangeOutcome): string => {
    if (verdict === 'applied') return typeof applied === 'string' ? applied : applied(path);
    return verdict === 'same' ? 'already there' : verdict;
  };
  const width = outcome.changes.reduce((most, change) => Math.max(most, words(change).length), 0);
  for (const change of outcome.changes) {
    const why = change.why === undefined ? '' : ` (${cleanLine(change.why)})`;
    write(`${words(change).padEnd(width)}  ${cleanLine(change.path)}${why}\n`);
  }
}
