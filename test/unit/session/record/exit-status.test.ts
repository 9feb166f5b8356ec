import { expect, it } from 'vitest';
import { type Ending, exitStatus } from '../../../../src/session/record/exit-status.ts';

const clean: Ending = {
  limited: false,
  conflicts: 0,
  decided: true,
  heldBack: 0,
  failOn: false,
  testFailed: false,
  waiting: 0,
  agent: 0,
};

it.each<[string, Partial<Ending>, number]>([
  ['nothing to say: the agent’s own', { agent: 7 }, 7],
  ['nothing decided, something waits', { decided: false, waiting: 3, heldBack: 2 }, 120],
  ['nothing decided, nothing waits', { decided: false, agent: 3 }, 3],
  ['decided, something held back', { heldBack: 1, waiting: 1 }, 121],
  ['--fail-on counts without a decision', { decided: false, waiting: 1, failOn: true }, 121],
  ['a test that failed counts after an apply', { testFailed: true, agent: 3 }, 119],
  ['and before that nothing was decided', { testFailed: true, decided: false, waiting: 1 }, 119],
  ['what was held back stands above a test', { testFailed: true, heldBack: 1 }, 121],
  ['a conflict stands above what was held back', { conflicts: 1, heldBack: 1 }, 122],
  ['a limit stands above a conflict', { limited: true, conflicts: 1 }, 124],
  ['a failure of run-claude stands above a limit', { hasFailed: true, limited: true }, 125],
  ['Ctrl-C stands above a limit', { interruptedBy: 'SIGINT', limited: true }, 130],
  ['a hang-up counts as a termination', { interruptedBy: 'SIGHUP' }, 143],
])('%s', (_title, part, status) => {
  expect(exitStatus({ ...clean, ...part })).toBe(status);
});
