import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recoverApply } from '../../../src/apply/recover.ts';
import { openContentStore } from '../../../src/store/content.ts';
import { adopt, layScene, type Scene, sorted } from '../../apply/crash-scene.ts';
import { readTimes, readTree } from '../../apply/tree.ts';
import { compileProgram } from '../../compile.ts';

/** In memory where there is such a place: thousands of fsyncs then cost nothing, and their order is counted all the same. */
const root = mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'run-claude-crash-'));
const shim = path.join(root, 'shim.so');
let program = '';

function run(scene: Scene, words: readonly string[], env: Record<string, string> = {}) {
  const start = path.join(root, 'start');
  rmSync(start, { force: true });
  const preload =
    Object.keys(env).length === 0 ? {} : { LD_PRELOAD: shim, UV_USE_IO_URING: '0', SHIM_START: start, ...env };
  const [action = '', ...rest] = words;
  const outcome = path.join(root, 'outcome');
  const result = spawnSync(process.execPath, [program, scene.request, action, outcome, ...rest], {
    env: { PATH: process.env['PATH'] ?? '', ...preload },
    encoding: 'utf8',
  });
  return { ...result, outcome: () => JSON.parse(readFileSync(outcome, 'utf8')) };
}

beforeAll(async () => {
  const source = path.resolve(import.meta.dirname, '../../apply-shim/shim.c');
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', shim, source, '-ldl']);
  program = await compileProgram(path.resolve(import.meta.dirname, '../../apply/crash-program.ts'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function save(scene: Scene): string {
  execFileSync('cp', ['-a', scene.folder, `${scene.folder}.saved`]);
  return `${scene.folder}.saved`;
}

let points = 0;

describe.each([
  ['apply', false],
  ['apply', true],
  ['undo', false],
  ['undo', true],
] as const)('killed at every call of %s (hard links: %s)', (action, linked) => {
  it('leaves each file old or new after recovery, none torn, none missing', { timeout: 600_000 }, async () => {
    const scene = await layScene(root, `${action}-${linked}`, linked);
    const old = readTree(scene.project);
    const oldTimes = readTimes(scene.project, old);
    if (action === 'undo') expect(run(scene, ['apply']).status).toBe(0);
    const before = readTree(scene.project);
    const saved = action === 'apply' && !linked ? save(scene) : undefined;
    const snapshots = `${scene.folder}.snapshots`;
    mkdirSync(snapshots);
    const counted = run(scene, [action], { SHIM_SNAP: snapshots, SHIM_SCENE: scene.folder });
    expect([counted.status, counted.stderr]).toEqual([0, '']);
    const after = readTree(scene.project);
    expect(sorted(after)).not.toEqual(sorted(before));
    if (action === 'undo') expect(readTimes(scene.project, old)).toEqual(oldTimes);
    const calls = readdirSync(snapshots).length;
    expect(calls).toBeGreaterThan(60);
    points += linked ? Math.ceil(calls / 2) : calls;
    if (saved !== undefined) comparesToKill(scene, saved, snapshots, calls);
    // With hard links only the ways in place differ: every other call shows them.
    for (let at = 1; at <= calls; at += linked ? 2 : 1) {
      rmSync(scene.folder, { recursive: true, force: true });
      renameSync(path.join(snapshots, String(at)), scene.folder);
      adopt(scene);
      await recoverApply({
        project: scene.project,
        sessionDir: scene.sessionDir,
        store: openContentStore(path.join(scene.sessionDir, 'store')),
        tell: () => undefined,
      });
      // Before the journal was ready nothing has happened; from there on everything.
      const tree = sorted(readTree(scene.project));
      expect([sorted(before), sorted(after)], `call ${at} of ${calls}`).toContainEqual(tree);
    }
  });
});

/** The copies that the shim makes are what a SIGKILL leaves: shown at a few calls. */
function comparesToKill(scene: Scene, saved: string, snapshots: string, calls: number): void {
  const done = `${scene.folder}.done`;
  renameSync(scene.folder, done);
  for (const at of [Math.floor(calls / 3), Math.floor((calls * 2) / 3)]) {
    execFileSync('cp', ['-a', saved, scene.folder]);
    const killed = run(scene, ['apply'], { SHIM_AT: String(at), SHIM_DO: 'kill' });
    expect(killed.signal).toBe('SIGKILL');
    const left = sorted(readTree(scene.project)).filter(([name]) => !/\.rc-/.test(String(name)));
    const copied = sorted(readTree(path.join(snapshots, String(at), 'project')));
    expect(left).toEqual(copied.filter(([name]) => !/\.rc-/.test(String(name))));
    rmSync(scene.folder, { recursive: true });
  }
  renameSync(done, scene.folder);
}

it('has seen at least 250 of them', () => expect(points).toBeGreaterThan(250));

it('takes everything back on a failing disk, and fails single paths that are not permitted', {
  timeout: 600_000,
}, async () => {
  const scene = await layScene(root, 'faults', false);
  const before = readTree(scene.project);
  const saved = save(scene);
  const count = path.join(root, 'count');
  expect(run(scene, ['apply'], { SHIM_COUNT: count }).stderr).toBe('');
  const after = readTree(scene.project);
  const calls = Number(readFileSync(count, 'utf8'));
  const [ENOSPC, EIO, EACCES] = [28, 5, 13];
  const plan = JSON.stringify({ errnos: [ENOSPC, EIO, EACCES], calls, step: 2 });
  const swept = run(scene, ['faults', saved, plan], { SHIM_RUN: 'start' });
  expect([swept.status, swept.stderr]).toEqual([0, '']);
  const results = swept.outcome() as { errno: number; at: number; failed?: number; thrown?: string; tree: [] }[];
  expect(results.length).toBeGreaterThan(100);
  for (const { errno, at, thrown, tree } of results) {
    const where = `errno ${errno} at call ${at}`;
    if (thrown !== undefined || errno !== EACCES) {
      expect([sorted(before), sorted(after)], where).toContainEqual(sorted(new Map(tree)));
    } else
      for (const [name, node] of tree as [string, unknown][])
        expect([before.get(name), after.get(name)], `${where}: ${name}`).toContainEqual(node);
  }
  const failures = results.filter(({ errno, failed }) => errno === EACCES && (failed ?? 0) > 0);
  expect(failures.length).toBeGreaterThan(5);
});
