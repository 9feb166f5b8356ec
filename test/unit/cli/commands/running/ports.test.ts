import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { portsCommand } from '../../../../../src/cli/commands/running/ports.ts';
import type { CommandContext } from '../../../../../src/cli/context/context.ts';
import { recordSessions } from '../../../../support/session-fixture.ts';

const started = new Date(2026, 10, 21).toISOString();

async function ports(state: string, ...words: string[]): Promise<number> {
  const context = { cwd: '/', places: { stateDir: state }, tell: () => undefined } as unknown as CommandContext;
  return portsCommand({ kind: 'command', name: 'ports', options: new Map(), words, rest: [] } as never, context);
}

it.each([[['261121-142900-k7p']], [['261121-142900-k7p', '3000']], [['k7p', '3000:8080']], [['142900-k7p']]])(
  'takes a session as other commands do (%j)',
  async (words) => {
    const state = recordSessions([{ id: '261121-142900-k7p', stage: 'applied', started }]);
    await expect(ports(state, ...words)).rejects.toThrow('session 261121-142900-k7p is not running');
  },
);

it.each([
  [['333', '3000'], 'no session 333'],
  [['3000'], 'no session of /'],
  [['k7p', 'x'], "'x' is not a port"],
  [['3000', '3001'], 'no session 3000'],
])('names what is wrong in %j', async (words, message) => {
  const state = recordSessions([{ id: '261121-142900-k7p', stage: 'applied', started }]);
  await expect(ports(state, ...words)).rejects.toThrow(message);
});

it('means the session of the agent for a folder besides its project', async () => {
  const state = recordSessions([
    { id: '261121-142900-k7p', stage: 'applied', started },
    { id: '261121-142900-zzz', stage: 'applied', started, project: '/beside' },
  ]);
  const file = path.join(state, 'sessions/261121-142900-zzz/session.json');
  const record = JSON.parse(readFileSync(file, 'utf8')) as { plan: object };
  writeFileSync(file, JSON.stringify({ ...record, plan: { ...record.plan, besideSession: '261121-142900-k7p' } }));
  await expect(ports(state, 'zzz')).rejects.toThrow('session 261121-142900-k7p is not running');
});
