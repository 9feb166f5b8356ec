/**
 * The seed of this run's random cases: another one each time; RUN_CLAUDE_TESTS_SEED repeats a run. Name it in the
 * message of each assertion.
 */
export const seed: number = Number(process.env['RUN_CLAUDE_TESTS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** For the message of an assertion on random cases. */
export const repeatHint = `again with RUN_CLAUDE_TESTS_SEED=${seed}`;
