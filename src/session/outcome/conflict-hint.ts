import type { ConflictRule } from '../../core/types/change/conflict.ts';
import type { ApplyOutcome } from '../../core/types/session.ts';
import { isOpenReason } from '../../review/apply/sets/in-use.ts';
import type { TargetWords } from './targets/target.ts';

const WAYS = {
  theirs: "theirs   take the session's version",
  markers: 'markers  write both versions between conflict markers',
  file: "file     write the session's version next to yours",
} as const satisfies Partial<Record<ConflictRule, string>>;

/**
 * Lines with the commands that resolve the conflicts of an apply: only those that would do something. None where there is no
 * conflict.
 */
export function conflictHint(
  { changes }: ApplyOutcome,
  { kept, command }: Pick<TargetWords, 'kept' | 'command'>,
): string[] {
  const conflicts = changes.filter(({ verdict }) => verdict === 'conflict');
  const count = conflicts.length;
  if (count === 0) return [];
  const isOpen = conflicts.some(({ why = '' }) => isOpenReason(why));
  const ways = Object.entries(WAYS).flatMap(([way, text]) =>
    conflicts.some((one) => one.ways?.some((own) => own === way)) ? [`  ${command()} --conflict ${text}`] : [],
  );
  const closing = isOpen ? [`  Close the program that has it open, then: ${command()}`] : [];
  return ways.length + closing.length === 0 ? [kept(count)] : [`${kept(count)} To resolve:`, ...closing, ...ways];
}
