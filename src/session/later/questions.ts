import type { Question } from '../../terminal/ask.ts';

// Every question about a session that has ended or lost its command, so that they can be read together. Names are cleaned.

/** `what`: what is undone, as 'the apply of just now, 2 files'. */
export function undoQuestion(what: string): Question<'y' | 'n'> {
  return {
    text: `Undo ${what}?`,
    about: [
      'Undo restores these files as they were before the apply. The changes are then pending in the session again.',
    ],
    answers: { y: 'restore the files', n: 'leave everything as it is' },
    onEnter: 'n',
  };
}

/** About a file that the user edited since the apply; the difference is above it. */
export function undoMergeQuestion(name: string): Question<'y' | 'n'> {
  return {
    text: `${name} was changed since the apply. Undo the apply in it, as above?`,
    about: ['The lines above are what the undo would change in your file as it is now. Your own edits stay.'],
    answers: {
      y: "take the session's changes out of your file",
      n: 'keep your file as it is; the apply of it can be undone later',
    },
    onEnter: 'n',
  };
}

export function undoBranchQuestion(name: string): Question<'y' | 'n'> {
  return {
    text: `Delete branch ${name}, which the last apply made?`,
    about: ['The branch has one commit, with changes of the session. They are then pending in the session again.'],
    answers: { y: 'delete the branch', n: 'keep the branch' },
    onEnter: 'n',
  };
}

/** `attachHint`: what is typed to leave the agent again; undefined where the agent cannot be attached. */
export function orphanedAgentQuestion(attachHint: string | undefined): Question<'a' | 's' | 'l'> {
  const attach =
    attachHint === undefined ? {} : { a: `give it its network back, and this terminal, until it ends (${attachHint})` };
  return {
    text:
      attachHint === undefined
        ? 'Stop and collect it, or leave it?'
        : 'Attach to it, stop and collect it, or leave it?',
    about: ['The agent was started by a command that no longer runs. It has no network until you attach to it.'],
    answers: {
      ...attach,
      s: 'end it now and collect what it left',
      l: 'leave it as it is',
    } as Readonly<Record<'a' | 's' | 'l', string>>,
    onEnter: 'l',
    waitsForSilence: true,
  };
}
