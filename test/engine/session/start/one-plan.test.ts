import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { DEFAULTS } from '../../../../src/core/config/settings.ts';
import { probeHost, probeProject } from '../../../../src/core/host/facts.ts';
import type { Plan } from '../../../../src/core/types/plan.ts';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import { startScreen } from '../../../../src/session/plan/describe-plan.ts';
import { planAlone } from '../../../../src/session/start/plan-alone.ts';
import { checkAsked, setUpRun } from '../../../../src/session/start/set-up-run.ts';
import { type StartDeps, withReadyStart } from '../../../../src/session/start/start-session.ts';
import { connectForTest } from '../../../support/engine.ts';
import { testImage } from '../../../support/image.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await connectForTest();
  await testImage(engine);
});
afterAll(() => engine.close());

/** Without the ids, which each plan has for itself. */
const withoutIds = ({ sessionId, also, ...plan }: Plan): unknown => ({
  ...plan,
  sessionDir: path.dirname(plan.sessionDir),
  also: also?.map(({ sessionId: _, ...folder }) => folder),
});

it('a start prints, agrees to and runs one plan, which is the one that --dry-run prints', async () => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-one-plan-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const name of ['home', 'project', 'other']) mkdirSync(path.join(root, name));
  const project = path.join(root, 'project');
  writeFileSync(path.join(project, 'package-lock.json'), '{"lockfileVersion":3,"packages":{}}');
  const dirs = { stateDir: 'state', cacheDir: 'cache', dataDir: 'data', configDir: 'config' };
  const places = Object.fromEntries(Object.entries(dirs).map(([key, name]) => [key, path.join(root, name)]));
  const host = probeHost(process, { home: path.join(root, 'home'), ...places } as Parameters<typeof probeHost>[1]);
  const { env } = process;
  const place = { host, cwd: root, env };
  const policy = {
    ...DEFAULTS,
    mode: 'copy',
    network: 'none',
    credentials: 'none',
    also: [path.join(root, 'other')],
    caches: ['npm'],
    env: { TOKEN: 'x' },
    environment: { packages: [], setup: 'echo made > made.txt', env: {}, files: ['package-lock.json'] },
  } as const;
  const asked = { policy, project: probeProject(project, { repo: false }), request: undefined, warnings: [] };
  const program = { kind: 'exec', argv: ['true'] } as const;
  const checked = await checkAsked({ ...asked, program }, place, true);
  const setup = await setUpRun(checked, { engine, lines: [] }, place);
  const printed: string[] = [];
  const deps: StartDeps = {
    engine,
    host,
    env,
    tell: (event) => void (event.kind === 'message' && printed.push(event.text)),
    screen: undefined,
    interruption: { signal: new AbortController().signal } as StartDeps['interruption'],
    findCredential: async () => undefined,
    credential: 'none',
    engineOf: () => Promise.reject(new Error('there is no earlier session')),
  };

  const first = await withReadyStart(setup, deps, async (plan) => plan);
  const shown = await planAlone(setup, deps);
  if (first === undefined) throw new Error('nobody could say no');

  expect(printed).toEqual(expect.arrayContaining(startScreen(first, 'none')));
  expect(withoutIds(shown.plan)).toEqual(withoutIds(first));
  expect(first.environment?.dir).toContain(host.cacheDir);
  expect(first.caches).toMatchObject([{ ecosystem: 'npm' }]);
  expect(first.also).toHaveLength(1);
  expect(Object.isFrozen(first.policy.env)).toBe(true);
});
