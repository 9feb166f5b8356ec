import { expect, it } from 'vitest';
import { networkCommand } from '../../../../src/cli/commands/network.ts';
import type { CommandContext } from '../../../../src/cli/context/context.ts';
import type { RunClaudeError } from '../../../../src/core/errors.ts';
import { recordSessions } from '../../../support/session-fixture.ts';

const ID = '261121-140512-k7p';

/** What `network allow` refuses, in a folder whose only session has ended. */
async function refusal(host: string): Promise<string> {
  const state = recordSessions([{ id: ID, stage: 'applied', started: '2026-11-21T14:05:12.000Z', project: '/' }]);
  const context = { cwd: '/', places: { stateDir: state }, tell: () => undefined } as unknown as CommandContext;
  const line = { kind: 'command', name: 'network', options: new Map(), words: ['allow', host], rest: [] };
  return Promise.resolve()
    .then(() => networkCommand(line as never, context))
    .then(
      () => 'allowed',
      (error: RunClaudeError) => [error.message, error.hint].join(' '),
    );
}

it('network allow checks its word before it looks for a session', async () => {
  for (const wrong of ['http://x.example/y', 'x.example/path', 'x y']) {
    const text = await refusal(wrong);
    expect(text, wrong).not.toContain('has ended');
    // The option is one of a start.
    expect(text, wrong).not.toContain('--allow-host');
  }
  expect(await refusal('x.example')).toContain(`session ${ID} has ended`);
});
