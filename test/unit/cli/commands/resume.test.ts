import { expect, it, onTestFinished } from 'vitest';
import { resumeCommand } from '../../../../src/cli/commands/resume.ts';
import type { CommandContext } from '../../../../src/cli/context/context.ts';
import { recordSessions } from '../../../support/session-fixture.ts';

const ID = '261121-142900-222';

/** `resume ID -- words…` of a session of Claude, by a user who types. No engine is there. */
function resume(...rest: string[]): Promise<number> {
  const program = { kind: 'claude', args: ['-p', 'fix it'], print: true } as const;
  const stateDir = recordSessions([
    { id: ID, stage: 'applied', started: '2026-11-21T14:29:00.000Z', files: {}, program, project: '/' },
  ]);
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin');
  onTestFinished(() => void Object.defineProperty(process, 'stdin', stdin as PropertyDescriptor));
  Object.defineProperty(process, 'stdin', { value: { isTTY: true, fd: 0 }, configurable: true });
  const places = { home: '/h', stateDir, cacheDir: '/c', dataDir: '/d', configDir: '/e' };
  const env = { DOCKER_HOST: 'unix:///nonexistent' };
  const context = { cwd: '/', places, env, tell: () => undefined, interruption: {} } as unknown as CommandContext;
  return resumeCommand({ kind: 'command', name: 'resume', options: new Map(), words: [ID], rest }, context);
}

it('refuses to print one answer without a prompt, before an engine is asked', async () => {
  await expect(resume('-p')).rejects.toMatchObject({
    code: 'USAGE',
    message: 'Claude is to print one answer, and there is no prompt',
  });
});
