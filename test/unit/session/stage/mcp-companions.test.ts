import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { ContainerSpec } from '../../../../src/core/types/engine.ts';
import type { Plan } from '../../../../src/core/types/plan.ts';
import type { McpProgram } from '../../../../src/core/types/policy.ts';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import { servedPrograms } from '../../../../src/network/gateway/rules/program-host.ts';
import { plannedCompanions, startMcpCompanions } from '../../../../src/session/stage/servers/mcp-companions.ts';
import { readyProgram } from '../../../../src/session/stage/servers/usable-servers.ts';

const PROGRAM: McpProgram = { name: 'Box', command: ['node', 's.js'], env: { A: 'b' }, secrets: {}, hosts: [] };

function place(): { readonly root: string; readonly project: string; readonly server: string } {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-companions-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [project, server] = [path.join(root, 'project'), path.join(root, 'server')];
  mkdirSync(path.join(project, 'server'), { recursive: true });
  mkdirSync(server);
  return { root, project, server };
}

const planOf = (project: string, program: McpProgram, network = 'gateway'): Plan =>
  ({
    sessionId: 's',
    image: 'i',
    project: { root: project },
    policy: { network, mcpPrograms: [program] },
  }) as unknown as Plan;

/** What the engine was asked for, up to the first container. */
async function start(plan: Plan): Promise<ContainerSpec | undefined> {
  let created: ContainerSpec | undefined;
  const engine = {
    facts: { local: true },
    createVolume: async () => undefined,
    removeVolume: async () => undefined,
    create: async (spec: ContainerSpec) => {
      created = spec;
      throw new Error('created');
    },
  } as unknown as Engine;
  const place = { roots: [plan.project.root], isLocal: true };
  const programs = await Promise.all(servedPrograms(plan.policy).map((program) => readyProgram(program, place)));
  await startMcpCompanions(plan, { engine, tell: () => undefined }, '{}', programs, { use: (one) => one }).catch(
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

it('keeps the values of secrets out of what the engine is asked for', async () => {
  const { project } = place();
  const secret = (from: readonly string[]) => planOf(project, { ...PROGRAM, secrets: { TOKEN: from } });
  expect(JSON.stringify(await start(secret(['echo', 'REAL'])))).not.toContain('REAL');
});

it('keeps what was started where one program cannot be started', async () => {
  const { project } = place();
  const named = (name: string): McpProgram => ({ ...PROGRAM, name });
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
        exec: async () => undefined,
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
    const ready = programs.map((program) => ({ program, directory: undefined, secrets: {} }));
    return startMcpCompanions(all, { engine, tell: () => undefined }, '{}', ready, { use });
  };
  await expect(startAll(named('bad'), named('good'))).rejects.toThrow('cannot be made');
  expect([made.length, kept.length]).toEqual([1, 1]);
  const tokens = await startAll(named('good'), named('fine'));
  expect([...tokens.keys()]).toEqual(['good', 'fine']);
  expect(new Set(tokens.values()).size).toBe(2);
});
