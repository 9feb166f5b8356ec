import type { Question } from '../../../terminal/ask.ts';

// Every question of these commands, so that they can be read together. Names are cleaned.

/** `what`: what is lost, as '3 files left'. `isUndoable`: an apply of the session could still be undone. */
export function discardQuestion(id: string, what: string, isUndoable: boolean): Question<'discard' | 'n'> {
  const undo = isUndoable ? ' What it applied can then no longer be undone.' : '';
  return {
    text: `Discard session ${id}, ${what}?${undo} Type 'discard'`,
    about: ['Discarded changes cannot be brought back. Your project stays as it is.'],
    answers: { discard: 'delete what the session changed', n: 'keep it' },
    onEnter: 'n',
  };
}

/** `changes`: '2 suspect changes'. */
export function importQuestion(changes: string): Question<'y' | 'n'> {
  return {
    text: `Import these commits with ${changes}?`,
    about: ['The lines above are the commits, and what the audit reports in them. No branch of yours is moved.'],
    answers: { y: "import the commits into the repository, under run-claude's own refs", n: 'import nothing' },
    onEnter: 'n',
    waitsForSilence: true,
  };
}

export interface BranchMoveWords {
  /** With the repository that it is in, where there are several. */
  readonly branch: string;
  /** '2 commits' */
  readonly commits: string;
  readonly from: string;
  readonly to: string;
  readonly checkedOut: boolean;
}

export function moveQuestion({ branch, commits, from, to, checkedOut }: BranchMoveWords): Question<'y' | 'n'> {
  const files = checkedOut ? '; your files stay as they are' : '';
  return {
    text: `Move ${branch} forward by ${commits}, ${from} to ${to}${files}?`,
    about: ['The commits are in your repository. Your branch does not have them yet.'],
    answers: { y: 'move the branch to the newest of the commits', n: 'leave the branch where it is' },
    onEnter: 'n',
  };
}
