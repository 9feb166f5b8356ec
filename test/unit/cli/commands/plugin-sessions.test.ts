import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { keptLine } from '../../../../src/cli/commands/plugin/kept-line.ts';
import { earlierLine, pendingOf, usable } from '../../../../src/cli/commands/plugin/project-session.ts';
import type { CommandContext } from '../../../../src/cli/context/context.ts';
import { runSelf } from '../../../../src/cli/context/run-self.ts';
import { insideTheCopy } from '../../../../src/cli/plugin/answers.ts';
import type { SessionRecord } from '../../../../src/core/types/session.ts';

const planOf = (plan: object = {}, policy: object = {}) => ({
  mode: 'copy',
  program: { kind: 'kept' },
  policy: { autoApply: false, credentials: 'none', ...policy },
  ...plan,
});
const recordOf = (more: object): SessionRecord =>
  ({ id: 'one', project: '/p', stage: 'pending', started: '1', plan: planOf(), ...more }) as unknown as SessionRecord;

it('the plugin uses no session that applies by itself, has a credential, other folders or the project itself', () => {
  const own = recordOf({});
  expect(usable(own)).toBe(own);
  expect(usable(recordOf({ plan: planOf({ also: [] }) }))).toBeDefined();
  const plans: readonly (readonly [object, string])[] = [
    [planOf({}, { autoApply: true }), 'applied without a question'],
    [planOf({}, { credentials: 'broker' }), 'it has a credential'],
    [planOf({}, { credentials: 'file' }), 'it has a credential'],
    [planOf({ also: [{}] }), 'it has other folders'],
    [planOf({ mode: 'bind' }), 'the project itself'],
  ];
  for (const [plan, why] of plans) {
    expect(() => usable(recordOf({ plan })), why).toThrow(why);
    expect(() => usable(recordOf({ plan }))).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('down one') }),
    );
  }
});

it('asks about the session that was up and no other', () => {
  const [old, late] = [recordOf({ id: 'old' }), recordOf({ id: 'late', started: '2' })];
  const others = [
    recordOf({ id: 'elsewhere', project: '/q', started: '3' }),
    recordOf({ id: 'applied', stage: 'applied', started: '4' }),
    recordOf({ id: 'agent', started: '5', plan: planOf({ program: { kind: 'shell', args: [] } }) }),
  ];
  const sessions = [old, ...others, late];
  expect(pendingOf(sessions, '/p', undefined)?.id).toBe('late');
  expect(pendingOf(sessions, '/p', 'old')?.id).toBe('old');
  expect(pendingOf(sessions, '/p', 'applied')).toBeUndefined();
  expect(pendingOf(sessions, '/p', 'agent')).toBeUndefined();
});

it('tells the failure of a command of run-claude from its output', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-self-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const program = path.join(dir, 'main.mjs');
  writeFileSync(
    program,
    `const [how] = process.argv.slice(2);
     console.log('said');
     if (how === 'killed') process.kill(process.pid, 'SIGKILL');
     process.exitCode = Number(how);`,
  );
  vi.spyOn(process, 'argv', 'get').mockReturnValue([process.execPath, program]);
  onTestFinished(() => void vi.restoreAllMocks());
  expect(await runSelf(['0'], dir)).toEqual({ text: 'said', status: 0 });
  expect(await runSelf(['121'], dir)).toMatchObject({ status: 121 });
  expect((await runSelf(['killed'], dir)).status).toBe(125);
});

it('starts a session without a credential and without conversations that come back', () => {
  const { flags } = keptLine({ env: {}, cwd: '/p' } as unknown as CommandContext, 'up');
  const values = Object.fromEntries(flags.map(({ setting, value }) => [setting, value]));
  expect(values).toMatchObject({ mode: 'copy', credentials: 'none', 'sync-back': false });
});

it('tells the user which earlier work a new copy lacks', () => {
  const [record, earlier] = [
    recordOf({ id: 'new' }),
    recordOf({ id: 'old', stoppedBecause: 'its container\u001b[2J ended' }),
  ];
  expect(earlierLine({ record })).toBeUndefined();
  expect(earlierLine({ record, earlier })).toBe(
    [
      'run-claude: session old has ended (its container\\x1b[2J ended), and its changes are pending. Session new is a new copy without them.',
      'To apply them, in a terminal: run-claude apply old. For a shell in that copy: run-claude resume old',
    ].join('\n'),
  );
  const answer = JSON.parse(insideTheCopy({}, earlierLine({ record, earlier })));
  expect([answer.systemMessage, answer.hookSpecificOutput.permissionDecision]).toEqual([
    expect.stringContaining('run-claude apply old'),
    'allow',
  ]);
  expect(JSON.parse(insideTheCopy({}))).not.toHaveProperty('systemMessage');
});
