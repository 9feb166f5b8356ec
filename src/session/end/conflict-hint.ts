import type { ApplyOutcome } from '../../types/session.ts';

/** Lines with the commands that resolve the conflicts of an apply; none where there is no conflict. */
export function conflictHint({ changes }: ApplyOutcome, id: string): string[] {
  const count = changes.filter(({ verdict }) => verdict === 'conflict').length;
  if (count === 0) return [];
  const apply = `run-claude apply ${id} --conflict`;
  return [
    `${count === 1 ? 'Your version of this file was' : `Your versions of these ${count} files were`} kept. To resolve:`,
    `  ${apply} theirs   take the session's version`,
    `  ${apply} markers  write both versions between conflict markers`,
    `  ${apply} file     write the session's version beside yours`,
  ];
}
