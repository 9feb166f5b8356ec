import type { ConflictRule } from '../../core/types/conflict.ts';
import type { ApplyOutcome } from '../../core/types/session.ts';
import { isOpenReason } from '../../review/apply/sets/in-use.ts';

const WAYS = {
  theirs: "theirs   take the session's version",
  markers: 'markers  write both versions between conflict markers',
  file: "file     write the session's version beside yours",
} as const satisfies Partial<Record<ConflictRule, string>>;

/**
 * Lines with the commands that resolve the conflicts of an apply: only those that would do something. None where there is no
 * conflict.
 */
export function conflictHint({ changes }: ApplyOutcome, id: string): string[] {
  const conflicts = changes.filter(({ verdict }) => verdict === 'conflict');
  const count = conflicts.length;
  if (count === 0) return [];
  const isOpen = conflicts.some(({ why = '' }) => isOpenReason(why));
  const ways = Object.entries(WAYS).flatMap(([way, text]) =>
    conflicts.some((one) => one.ways?.some((own) => own === way))
      ? [`  run-claude apply ${id} --conflict ${text}`]
      : [],
  );
  const kept = count === 1 ? 'Your version of this file was' : `Your versions of these ${count} files were`;
  const closing = isOpen ? [`  Close the program that has it open, then: run-claude apply ${id}`] : [];
  return ways.length + closing.length === 0 ? [`${kept} kept.`] : [`${kept} kept. To resolve:`, ...closing, ...ways];
}
