import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openInstance } from '../../../../../src/agents/claude/instances/instance.ts';
import { dataLabel } from '../../../../../src/agents/claude/instances/isolated.ts';
import { listInstances } from '../../../../../src/agents/claude/instances/list.ts';
import { projectsCommand } from '../../../../../src/cli/commands/projects.ts';
import { processIdentity } from '../../../../../src/core/host/processes/process.ts';
import type { FoundObject } from '../../../../../src/core/types/engine.ts';
import type { Engine } from '../../../../../src/core/types/runtime.ts';
import type { SessionRecord, Stage } from '../../../../../src/core/types/session.ts';
import { planGc, runGc } from '../../../../../src/session/later/gc/gc.ts';
import { reserveSession } from '../../../../../src/session/record/session.ts';
import { layerVolume } from '../../../../../src/workspace/layer/volume.ts';
import { sessionRecord } from '../../../../support/session-record.ts';

const DAY_MS = 86_400_000;
let top = '';
const at = (...parts: string[]): string => join(top, ...parts);
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'rc-gc-'));
  for (const name of ['here', 'gone', 'drive']) mkdirSync(at('work', name), { recursive: true });
});
afterEach(() => rmSync(top, { recursive: true }));

const options = (): Parameters<typeof runGc>[0] => ({
  places: { stateDir: at('state'), cacheDir: at('cache'), dataDir: at('data') },
  engine: undefined,
  nowMs: Date.now() + 40 * DAY_MS,
  currentImages: ['run-claude:00000000000000aa'],
});

it('removes the data of a deleted project, and keeps that of a project that may come back', async () => {
  await openInstance(at('data'), at('work/here'));
  const gone = await openInstance(at('data'), at('work/gone'));
  const drive = await openInstance(at('data'), at('work/drive'));
  // As it was recorded while a drive was mounted there; now the directory is absent, and nothing is mounted.
  writeFileSync(join(drive.dir, 'mount-point'), `${at('work/drive')}\n`);
  rmSync(at('work/gone'), { recursive: true });
  rmSync(at('work/drive'), { recursive: true });
  mkdirSync(at('keep'));
  symlinkSync(at('keep'), join(gone.dir, 'link'));
  symlinkSync(at('keep'), at('data/projects/0123456789abcdef'));
  const foreign = at('data/projects/fedcba9876543210');
  mkdirSync(foreign);
  writeFileSync(join(foreign, 'project-root'), '/nowhere\n');
  const states = Object.fromEntries((await listInstances(at('data'))).map((one) => [one.root, one.state]));
  expect(states).toEqual({
    [at('work/here')]: 'present',
    [at('work/gone')]: 'deleted',
    [at('work/drive')]: 'away',
    '/nowhere': 'foreign',
  });
  const planned = await planGc(options());
  expect(planned).toEqual([
    { kind: 'instance', name: gone.dir, why: `its project ${at('work/gone')} no longer exists` },
  ]);
  expect(existsSync(gone.dir)).toBe(true);
  expect(await runGc(options())).toEqual({ removed: planned, problems: [] });
  expect([existsSync(gone.dir), existsSync(drive.dir), existsSync(foreign), existsSync(at('keep'))]).toEqual([
    false,
    true,
    true,
    true,
  ]);
});

/** A session of this stage that was last touched so many days ago, with a layer that nobody can look into. */
function session(
  stage: Stage,
  days: number,
  changes: object[] = [],
  strategy: SessionRecord['plan']['strategy'] = 'layers',
  project = '/p',
  more: object = {},
): string {
  const { id, dir } = reserveSession(at('state'), Date.now());
  const updated = new Date(Date.now() - days * DAY_MS).toISOString();
  const image = 'run-claude:00000000000000bb';
  const plan = { sessionId: id, strategy, baseDir: at('base'), sessionDir: dir, image, project: { root: project } };
  const outcome = { changes: [], at: updated };
  const record = { ...sessionRecord({ stage, started: updated, plan, outcome }), ...more };
  writeFileSync(join(dir, 'session.json'), JSON.stringify(record));
  writeFileSync(
    join(dir, 'manifest'),
    JSON.stringify({ version: 1, changes, withheld: [], findings: [], problems: [], baseEntries: 0 }),
  );
  mkdirSync(join(dir, 'layer/work/work'), { recursive: true, mode: 0o700 });
  chmodSync(join(dir, 'layer/work/work'), 0);
  return id;
}

it.each([
  ['applied', 'removed'],
  ['discarded', 'removed'],
  ['failed', 'removed'],
  ['applied, and a command works on it', 'kept'],
  ['pending', 'kept'],
  ['running', 'kept'],
])('with a session that is %s the data of a project that no longer exists is %s', async (what, outcome) => {
  const [stage = '', busy] = what.split(', ');
  const gone = await openInstance(at('data'), at('work/gone'));
  rmSync(at('work/gone'), { recursive: true });
  const id = session(
    stage as Stage,
    1,
    [],
    'layers',
    at('work/gone'),
    busy === undefined ? {} : { owner: processIdentity() },
  );
  const removed = (await planGc({ ...options(), nowMs: Date.now() })).map(({ kind, name }) => `${kind} ${name}`);
  expect(removed.includes(`instance ${gone.dir}`)).toBe(outcome === 'removed');
  const lines: string[] = [];
  const places = { stateDir: at('state'), dataDir: at('data') };
  const context = { places, write: (text: string) => lines.push(text), tell: () => undefined };
  await projectsCommand({ options: new Map(), words: [] } as never, context as never);
  expect(lines.join('')).toContain(outcome === 'removed' ? 'run-claude gc removes its data' : `pending session ${id}`);
});

it('removes decided sessions after 30 days, and unused layers, but never pending ones', async () => {
  const stages = ['pending', 'applied', 'discarded', 'running', 'ended', 'failed'] as const;
  const old = stages.map((stage) => session(stage, 40));
  const commits = [{ path: '.git/refs/heads/x', inGit: true }];
  const layers = [session('applied', 1), session('applied', 15, commits), session('discarded', 1)];
  const kept = [session('applied', 13, commits), session('pending', 15, commits)];
  const now = { ...options(), nowMs: Date.now() };
  const planned = await planGc(now);
  expect(planned.map(({ kind, name }) => `${kind} ${name}`).sort()).toEqual(
    [...[1, 2, 5].map((index) => `session ${old[index]}`), ...layers.map((id) => `layer ${id}`)].sort(),
  );
  expect(await runGc(now)).toEqual({ removed: planned, problems: [] });
  const there = (id: string | undefined, below: string): boolean => existsSync(at('state/sessions', id ?? '', below));
  expect(layers.map((id) => [there(id, 'layer'), there(id, 'session.json')])).toEqual(layers.map(() => [false, true]));
  expect([...kept, old[0]].every((id) => there(id, 'layer/work/work'))).toBe(true);
  expect(there(old[1], '')).toBe(false);
});

it('removes from the engine what belongs to no session, project or image in use', async () => {
  const here = await openInstance(at('data'), at('work/here'));
  const gone = await openInstance(at('data'), at('work/gone'));
  rmSync(at('work/gone'), { recursive: true });
  const [id, inEngine, running] = [
    session('pending', 40),
    session('pending', 40, [], 'volume'),
    session('running', 40),
  ];
  const found = (kind: FoundObject['kind'], name: string, label: string, running = false): FoundObject => {
    return { kind, id: name, name, labels: { 'run-claude.session': label }, running, createdMs: 1 };
  };
  const objects = [
    found('volume', 'data-of-here', dataLabel(here)),
    found('volume', 'data-of-gone', dataLabel(gone)),
    // The layer of the one is a directory here, of the other it is a volume; the third's command was killed.
    found('volume', 'overlay-of-a-pending', id),
    found('volume', 'overlay-in-the-engine', inEngine),
    found('volume', layerVolume(inEngine), inEngine),
    found('container', 'of-a-killed', running),
    found('container', 'over', 'over'),
    found('container', 'running', 'over', true),
    { ...found('network', 'young', 'over'), createdMs: options().nowMs },
    found('image', 'run-claude:00000000000000aa', ''),
    found('image', 'run-claude:00000000000000bb', ''),
    found('image', 'run-claude:00000000000000cc', ''),
  ];
  const removed: string[] = [];
  const engine = {
    list: async () => objects,
    running: { find: async (name: string) => ({ remove: async () => void removed.push(name) }) },
    removeVolume: async (name: string) => void removed.push(name),
    images: { remove: async (name: string) => void removed.push(name) },
  } as unknown as Engine;
  await runGc({ ...options(), engine });
  expect(removed).toEqual([
    'over',
    'data-of-gone',
    'overlay-of-a-pending',
    'overlay-in-the-engine',
    'run-claude:00000000000000cc',
  ]);
});
