import { EVERY, type GeneralRule } from './rule.ts';

const SOURCE = 'docs/reference/rehearsal.md';

/** What all rules of the rehearsal have; isRehearsed knows them by the beginning of their ids. Their looks are in src/rehearsal: a container reports what happened. */
const SHARED = {
  family: 'rehearsal',
  severity: 'suspect',
  files: EVERY,
  look: [{ kind: 'reported' }],
  source: SOURCE,
} as const satisfies Partial<GeneralRule>;

export const REHEARSED_PROGRAM: GeneralRule = {
  ...SHARED,
  id: 'rehearsed-program',
  title: 'Starts a program',
  when: 'a command that was rehearsed',
  about: 'programs that a rehearsed command starts with the changes, and not without them',
  why: 'The same command starts it on your machine once the changes are applied.',
};

export const REHEARSED_CONNECTION: GeneralRule = {
  ...SHARED,
  id: 'rehearsed-connection',
  title: 'Opens a connection',
  when: 'a command that was rehearsed',
  about:
    'names, addresses and ports that a rehearsed command asks for or listens on with the changes, and not without them',
  why: 'The same command does this from your machine once the changes are applied.',
};

export const REHEARSED_DECOY_READ: GeneralRule = {
  ...SHARED,
  id: 'rehearsed-decoy-read',
  title: 'Reads a secret',
  when: 'a command that was rehearsed',
  about: 'decoys in the places of secrets that a rehearsed command reads with the changes, and not without them',
  why: 'The same command reads your own secret at that place once the changes are applied.',
};

export const REHEARSED_WRITE: GeneralRule = {
  ...SHARED,
  id: 'rehearsed-write',
  title: 'Writes a file',
  when: 'a command that was rehearsed',
  about:
    'files that a rehearsed command changes outside new build output, temporary folders and caches with the changes, and not without them',
  why: 'The same command changes that file on your machine once the changes are applied.',
};

export const REHEARSAL_EVADED: GeneralRule = {
  ...SHARED,
  id: 'rehearsal-evaded',
  title: 'Hides from the rehearsal',
  when: 'a command that was rehearsed',
  about: 'attempts of a rehearsed command to leave the sight of the observer or to stop it',
  why: 'What the command does on your machine after that is not known.',
};

/** Its finding is titled with the number of commands. */
export const REHEARSED_NOT_STARTED: GeneralRule = {
  ...SHARED,
  id: 'rehearsed-not-started',
  severity: 'note',
  title: 'Not started by any of N commands',
  when: 'a rehearsal',
  about: 'files with a suspect or blocked finding that no rehearsed command ran or read',
  why: 'That does not prove that it is harmless: another command may start it.',
};

/** Rules on what a rehearsal saw. */
export const REHEARSAL_RULES: readonly GeneralRule[] = [
  REHEARSED_PROGRAM,
  REHEARSED_CONNECTION,
  REHEARSED_DECOY_READ,
  REHEARSED_WRITE,
  REHEARSAL_EVADED,
  REHEARSED_NOT_STARTED,
];
