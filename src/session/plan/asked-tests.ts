import { TEST_TIMEOUT_MS } from '../../core/config/values/quantities.ts';
import { COPY_MODE, usageError } from '../../core/errors.ts';
import type { Policy } from '../../core/types/policy.ts';
import type { TestCommand } from '../../core/types/test.ts';

/** The tests of a session: those of the configuration, then those of `--test`, each command once. */
export function askedTests({ tests = [], test = [] }: Pick<Policy, 'tests' | 'test'>): readonly TestCommand[] {
  const known = new Set(tests.map(({ command }) => command));
  const typed = test
    .filter((command) => !known.has(command))
    .map((command) => ({ name: command, command, timeoutMs: TEST_TIMEOUT_MS, needsNetwork: false }));
  return [...tests, ...typed];
}

/**
 * Refuses tests that could not be run. Those of a configuration are left out in bind mode, where there is no result apart
 * from the project.
 *
 * @throws {RunClaudeError} USAGE
 */
export function refuseTests(policy: Policy): void {
  const { mode, test = [], requireTests } = policy;
  if (mode === 'bind' && (test.length > 0 || requireTests === true))
    throw usageError('tests are run on the result of a copy, and this is bind mode', `Use ${COPY_MODE}.`);
  if (requireTests === true && askedTests(policy).length === 0)
    throw usageError('--require-tests: there is no test', "Name one, such as --test 'npm test'.");
}
