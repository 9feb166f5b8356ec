/**
 * Where the random cases of this run begin: another place each time, RUN_CLAUDE_TESTS_SEED to go back to one. Name it
 * in whatever an assertion says.
 */
export const seed: number = Number(process.env['RUN_CLAUDE_TESTS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** For the message of an assertion on random cases. */
export const again = `again with RUN_CLAUDE_TESTS_SEED=${seed}`;
