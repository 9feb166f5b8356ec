import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { plannedCompanions, startMcpCompanions } from '../../../../src/session/start/mcp-companions.ts';
import type { ContainerSpec, Engine } from '../../../../src/types/engine.ts';
import type { Plan } from '../../../../src/types/plan.ts';
import type { McpProgram } from '../../../../src/types/policy.ts';

const PROGRAM: McpProgram = { name: 'Box', command: ['node', 's.js'], env: { A: 'b' }, secrets: {}, hosts: [] };

function place(): { readonly root: string; readonly project: string; readonly server: string } {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-companions-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [project, server] = [path.join(root, 'project'), path.join(root, 'server')];
  mkdirSync(path.join(project, 'server'), { recursive: true });
  mkdirSync(server);
  return { root, project, server };
}

const planOf = (project: string, program: McpProgram, network = 'gateway', also: readonly object[] = []): Plan =>
  ({
    also,
    sessionId: 's',
    image: 'i',
    project: { root: project },
    policy: { network, mcpPrograms: [program] },
  }) as unknown as Plan;

/** What the engine was asked for, up to the first container. */
async function start(plan: Plan, local = true): Promise<ContainerSpec | undefined> {
  let created: ContainerSpec | undefined;
  const engine = {
    facts: { local },
    createVolume: async () => undefined,
    removeVolume: async () => undefined,
    create: async (spec: ContainerSpec) => {
      created = spec;
      throw new Error('created');
    },
  } as unknown as Engine;
  await startMcpCompanions(plan, { engine, tell: () => undefined }, '{}', { use: (one) => one }).catch(
    (error: Error) => {
      if (error.message !== 'created') throw error;
    },
  );
  return created;
}

it('mounts the directory of a program read-only, and gives it a way out only where it names hosts', async () => {
  const { project, server } = place();
  const [plain, online] = [PROGRAM, { ...PROGRAM, hosts: ['api.example.org'] }];
  const spec = await start(planOf(project, { ...plain, directory: server }));
  expect(spec?.mounts).toContainEqual({ kind: 'bind', source: server, target: '/srv', readonly: true });
  expect(JSON.stringify(spec)).not.toMatch(/--forward|PROXY/);
  expect(spec?.network).toBe('none');
  const out = await start(planOf(project, online));
  expect(out?.argv).toContain('--forward');
  expect(out?.network).toBe('none');
  expect(out?.mounts.some(({ kind }) => kind === 'bind')).toBe(false);
  expect(plannedCompanions(planOf(project, plain), '{}')).toHaveLength(1);
  for (const network of ['none', 'open']) {
    expect(plannedCompanions(planOf(project, plain, network), '{}')).toEqual([]);
    expect(await start(planOf(project, plain, network))).toBeUndefined();
  }
});

it('refuses a directory that the agent could change, or that is not there', async () => {
  const { root, project, server } = place();
  symlinkSync(path.join(project, 'server'), path.join(root, 'link'));
  writeFileSync(path.join(root, 'file'), '');
  const refused = (directory: string, local = true) => start(planOf(project, { ...PROGRAM, directory }), local);
  for (const directory of [project, path.join(project, 'server'), root, '/', path.join(root, 'link')])
    await expect(refused(directory), directory).rejects.toThrow('and the project are in each other');
  for (const name of ['file', 'absent'])
    await expect(refused(path.join(root, name))).rejects.toThrow('is not a directory');
  await expect(refused(server, false)).rejects.toThrow("is not on the engine's machine");
});

it('keeps the values of secrets out of what the engine is asked for, and stops at a command that fails', async () => {
  const { project } = place();
  const secret = (from: readonly string[]) => planOf(project, { ...PROGRAM, secrets: { TOKEN: from } });
  expect(JSON.stringify(await start(secret(['echo', 'REAL'])))).not.toContain('REAL');
  await expect(start(secret(['false']))).rejects.toThrow('[[mcp]] Box: TOKEN: false failed');
  await expect(start(secret(['true']))).rejects.toThrow('true printed no value');
});

it('refuses a directory in another folder that the agent writes to, and takes one of a read-only folder', async () => {
  const { project, server } = place();
  const startBeside = (isReadonly: boolean) => {
    const folder = { name: 'server', isReadonly, sessionId: 't', project: { root: server } };
    return start(planOf(project, { ...PROGRAM, directory: server }, 'gateway', [folder]));
  };
  await expect(startBeside(false)).rejects.toThrow(`and ${server} are in each other`);
  expect(await startBeside(true)).toBeDefined();
});

it('makes no container where the secret of another program fails, and keeps what was started where one fails', async () => {
  const { project } = place();
  const named = (name: string, secrets: McpProgram['secrets'] = {}): McpProgram => ({ ...PROGRAM, name, secrets });
  const made: string[] = [];
  const kept: unknown[] = [];
  const stream = { on: () => undefined, write: () => undefined };
  const engine = {
    facts: { local: true },
    createVolume: async () => undefined,
    removeVolume: async () => undefined,
    create: async (spec: ContainerSpec) => {
      if (spec.name.endsWith('-bad')) throw new Error('cannot be made');
      await new Promise((done) => setTimeout(done, 50));
      made.push(spec.name);
      return {
        stdin: stream,
        stdout: stream,
        stderr: stream,
        start: async () => undefined,
        wait: () => new Promise(() => undefined),
      };
    },
  } as unknown as Engine;
  const startAll = (...programs: readonly McpProgram[]) => {
    const plan = planOf(project, PROGRAM);
    const all = { ...plan, policy: { ...plan.policy, mcpPrograms: programs } };
    const use = <T>(one: T): T => {
      kept.push(one);
      return one;
    };
    return startMcpCompanions(all, { engine, tell: () => undefined }, '{}', { use });
  };
  await expect(startAll(named('good'), named('other', { A: ['false'] }))).rejects.toThrow('false failed');
  expect(made).toEqual([]);
  await expect(startAll(named('bad'), named('good'))).rejects.toThrow('cannot be made');
  expect([made.length, kept.length]).toEqual([1, 1]);
  const tokens = await startAll(named('good'), named('fine'));
  expect([...tokens.keys()]).toEqual(['good', 'fine']);
  expect(new Set(tokens.values()).size).toBe(2);
});
