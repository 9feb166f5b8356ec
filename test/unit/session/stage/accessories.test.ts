import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { SessionEvent } from '../../../../src/core/types/event.ts';
import type { Plan } from '../../../../src/core/types/plan.ts';
import type { Policy } from '../../../../src/core/types/policy.ts';
import type { SessionDeps } from '../../../../src/session/stage/deps.ts';
import { findAccessories } from '../../../../src/session/stage/servers/accessories.ts';

const program = (name: string, more: object = {}) => ({
  name,
  command: ['x'],
  env: {},
  secrets: {},
  hosts: [],
  ...more,
});

async function find(policy: Partial<Policy>, also: readonly object[] = []) {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-accessories-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const events: SessionEvent[] = [];
  const deps = {
    engine: { facts: { local: true } },
    env: {},
    host: { dataDir: root },
    tell: (event: SessionEvent) => events.push(event),
  };
  const base = { network: 'gateway', brokers: [], allowAddresses: [], ...policy };
  const plan = { project: { root: path.join(root, 'project') }, policy: base, also } as unknown as Plan;
  const found = await findAccessories(plan, deps as unknown as SessionDeps);
  return { found, events, root };
}

it('leaves out each MCP server that cannot be used, with one warning that names it and the remedy', async () => {
  const { found, events } = await find({
    mcpServers: [
      { name: 'free', url: 'https://free.test/mcp' },
      { name: 'here', url: 'http://127.0.0.1:8931/mcp' },
      { name: 'docs', url: 'https://docs.test/mcp', oauth: true },
      { name: 'locked', url: 'https://locked.test/mcp', header: 'Authorization', from: ['false'] },
    ],
    mcpPrograms: [
      program('local'),
      program('gone', { directory: '/nonexistent' }),
      program('shut', { secrets: { A: ['false'] } }),
    ],
  });
  expect(found.plan.policy.mcpServers?.map(({ name }) => name)).toEqual(['free', 'here']);
  expect(found.plan.policy.mcpPrograms?.map(({ name }) => name)).toEqual(['local']);
  expect(found.programs.map((one) => one.program.name)).toEqual(['local']);
  expect(found.brokered.map(({ host }) => host)).toEqual(['free.test']);
  const warning = (text: string) => ({ kind: 'message', level: 'warning', text });
  expect(events).toHaveLength(4);
  expect(events).toEqual(
    expect.arrayContaining([
      warning(
        'MCP server docs is left out: there is no login to the MCP server docs. To log in: run-claude mcp login docs',
      ),
      warning(
        'MCP server locked is left out: [[mcp]] locked: false failed. Its command must print the header value, one line.',
      ),
      warning(
        'MCP server gone is left out: [[mcp]] gone: /nonexistent is not a directory. Name the directory that has the server.',
      ),
      warning(
        'MCP server shut is left out: [[mcp]] shut: A: false failed. Its command must print the value, one line.',
      ),
    ]),
  );
});

it('leaves the secret of a broker out where its command fails, and lets no more pass than with it', async () => {
  const rule = { header: 'Authorization', methods: ['GET'] };
  const { found, events } = await find({
    brokers: [
      { ...rule, host: 'api.test', from: ['false'] },
      { ...rule, host: 'other.test', from: ['echo', 'x'] },
    ],
  });
  expect(found.brokered).toEqual([
    { host: 'api.test', passes: { methods: ['GET'] } },
    { host: 'other.test', passes: { methods: ['GET'] }, secret: { header: 'Authorization', value: 'x' } },
  ]);
  expect(events.map((event) => 'text' in event && event.text)).toEqual([
    'The secret of api.test is left out: [[broker]] api.test: false failed. Its command must print the header value, one line.',
  ]);
});

it('never leaves out a rule: a broker that cannot be one still ends the session', async () => {
  const rule = { host: '*.api.test', header: 'Authorization', methods: ['GET'], from: ['echo', 'x'] };
  await expect(find({ brokers: [rule] })).rejects.toMatchObject({ code: 'BROKER_FAILED' });
});

it('asks for nothing without a network, and leaves out a program in a folder that the agent writes to', async () => {
  const mcpPrograms = [program('shut', { secrets: { A: ['false'] } })];
  expect((await find({ network: 'none', mcpPrograms })).events).toEqual([]);
  const folder = { isReadonly: false, project: { root: '/usr' } };
  const { found, events } = await find({ mcpPrograms: [program('box', { directory: '/usr/bin' })] }, [folder]);
  expect(found.programs).toEqual([]);
  expect(JSON.stringify(events)).toContain('/usr are in each other');
});
