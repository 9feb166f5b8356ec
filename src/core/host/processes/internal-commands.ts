/** The word that starts a holder: with a channel to the command that started it, and never for a user. */
export const HOLD_WORD = 'hold-session';

/** The same for the process that runs one session of a batch. */
export const TASK_WORD = 'run-task';
