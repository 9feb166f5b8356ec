import { SAME_LINES } from '../../apply/merge-file.ts';
import { isOpenReason } from '../../apply/sets/in-use.ts';
import type { ApplyOutcome } from '../../types/session.ts';

/** Lines with the commands that resolve the conflicts of an apply; none where there is no conflict. */
export function conflictHint({ changes }: ApplyOutcome, id: string): string[] {
  const conflicts = changes.filter(({ verdict }) => verdict === 'conflict');
  const count = conflicts.length;
  if (count === 0) return [];
  const apply = `run-claude apply ${id} --conflict`;
  const isOpen = conflicts.some(({ why = '' }) => isOpenReason(why));
  const hasLines = conflicts.some(({ why }) => why === SAME_LINES);
  return [
    `${count === 1 ? 'Your version of this file was' : `Your versions of these ${count} files were`} kept. To resolve:`,
    ...(isOpen ? [`  Close the program that has it open, then: run-claude apply ${id}`] : []),
    `  ${apply} theirs   take the session's version`,
    ...(hasLines ? [`  ${apply} markers  write both versions between conflict markers`] : []),
    `  ${apply} file     write the session's version beside yours`,
  ];
}
