import { expect, it } from 'vitest';
import { COPY_MODE, RunClaudeError } from '../../../../src/core/errors.ts';
import type { EngineFacts } from '../../../../src/core/types/engine.ts';
import type { Policy } from '../../../../src/core/types/policy.ts';
import { chooseStrategy } from '../../../../src/session/plan/strategy.ts';

const BIND = { mode: 'bind', strategy: 'auto' } as unknown as Policy;

/** --copy-workspace next to --bind is refused: a hint that names only the one is not followed. */
it.each([
  ['a remote engine', { endpoint: 'ssh://host', local: false, usernsRemap: false }],
  ['an engine that remaps users', { endpoint: 'unix:///run/docker.sock', local: true, usernsRemap: true }],
])('refuses bind mode with %s, and says to leave out --bind', (_, facts) => {
  const choose = () => chooseStrategy(BIND, facts as unknown as EngineFacts, undefined);
  expect(choose).toThrow(RunClaudeError);
  expect(choose).toThrow(expect.objectContaining({ hint: `Use ${COPY_MODE}.` }));
});
