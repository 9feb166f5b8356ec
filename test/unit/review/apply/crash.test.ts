import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openContentStore } from '../../../../src/core/store/content.ts';
import { recoverApply } from '../../../../src/review/apply/recover.ts';
import { adopt, layScene, type Scene, sorted } from '../../../support/apply/crash-scene.ts';
import { readTimes, readTree } from '../../../support/apply/tree.ts';
import { compileProgram, compileShim } from '../../../support/compile.ts';

/** Prefers a file system in memory: thousands of fsyncs cost nothing there, and their order is still checked. */
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
  compileShim(shim);
  program = await compileProgram(path.resolve(import.meta.dirname, '../../../support/apply/crash-program.ts'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function save(scene: Scene): string {
  execFileSync('cp', ['-a', scene.folder, `${scene.folder}.saved`]);
  return `${scene.folder}.saved`;
}

/** Puts each copy that the shim made in the place of the scene, in turn, and recovers it. */
async function recovers(scene: Scene, snapshots: string, wanted: readonly unknown[]): Promise<number> {
  const calls = readdirSync(snapshots).length;
  for (let at = 1; at <= calls; at++) {
    rmSync(scene.folder, { recursive: true, force: true });
    renameSync(path.join(snapshots, String(at)), scene.folder);
    adopt(scene);
    await recoverApply({
      project: scene.project,
      sessionDir: scene.sessionDir,
      store: openContentStore(path.join(scene.sessionDir, 'store')),
      tell: () => undefined,
    });
    const tree = sorted(readTree(scene.project));
    expect(wanted, `call ${at} of ${calls}`).toContainEqual(tree);
  }
  return calls;
}

/** Runs to its end, with a copy of the scene for each call. */
function photographed(scene: Scene, action: string): string {
  const snapshots = `${scene.folder}.${action}`;
  mkdirSync(snapshots);
  const counted = run(scene, [action], { SHIM_SNAP: snapshots, SHIM_SCENE: scene.folder });
  expect([counted.status, counted.stderr]).toEqual([0, '']);
  return snapshots;
}

let points = 0;

describe.each([
  ['apply', false],
  ['apply', true],
  ['undo', false],
  ['undo', true],
] as const)('killed at every call of %s (hard links: %s)', (action, linked) => {
  it('leaves each file old or new after recovery, never torn or missing', async () => {
    const scene = await layScene(root, `${action}-${linked}`, linked, linked ? 0 : 18);
    const old = readTree(scene.project);
    const oldTimes = readTimes(scene.project, old);
    if (action === 'undo') expect(run(scene, ['apply']).status).toBe(0);
    const before = sorted(readTree(scene.project));
    const saved = action === 'apply' && !linked ? save(scene) : undefined;
    const snapshots = photographed(scene, action);
    const after = sorted(readTree(scene.project));
    expect(after).not.toEqual(before);
    if (action === 'undo') expect(readTimes(scene.project, old)).toEqual(oldTimes);
    const calls = readdirSync(snapshots).length;
    expect(calls).toBeGreaterThan(80);
    if (saved !== undefined) comparesToKill(scene, saved, snapshots, calls);
    // Before the journal was ready no change has been made; after that, recovery completes every change.
    points += await recovers(scene, snapshots, [before, after]);
  });
});

it('a recovery that is killed at any call is finished by the next recovery', async () => {
  const scene = await layScene(root, 'twice', false);
  const before = sorted(readTree(scene.project));
  const snapshots = photographed(scene, 'apply');
  const after = sorted(readTree(scene.project));
  const middle = String(Math.floor(readdirSync(snapshots).length / 2));
  rmSync(scene.folder, { recursive: true });
  renameSync(path.join(snapshots, middle), scene.folder);
  adopt(scene);
  expect([before, after]).not.toContainEqual(sorted(readTree(scene.project)));
  const calls = await recovers(scene, photographed(scene, 'recover'), [after]);
  expect(calls).toBeGreaterThan(30);
  points += calls;
});

/** Shows at a few calls that the copies of the shim equal what a SIGKILL leaves. */
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

it('was tried at 500 calls or more', () => expect(points).toBeGreaterThan(500));

const [ENOSPC, EDQUOT, EIO, EACCES] = [28, 122, 5, 13];
interface Faulty {
  readonly errno?: number;
  readonly at?: number;
  readonly options?: string;
  readonly failed?: number;
  readonly thrown?: string;
  readonly tree: [string, unknown][];
}

it.each(['apply', 'undo'])(
  '%s reverts everything on a failing disk, and fails only the paths that are not permitted',
  async (what) => {
    const scene = await layScene(root, `faults-${what}`, false);
    if (what === 'undo') expect(run(scene, ['apply']).status).toBe(0);
    const before = readTree(scene.project);
    const saved = save(scene);
    const count = path.join(root, 'count');
    expect(run(scene, [what], { SHIM_COUNT: count }).stderr).toBe('');
    const after = readTree(scene.project);
    const calls = Number(readFileSync(count, 'utf8'));
    const errnos = [what === 'undo' ? EDQUOT : ENOSPC, EIO, EACCES];
    const plan = JSON.stringify({ what, errnos, calls });
    const swept = run(scene, ['faults', saved, plan], { SHIM_RUN: 'start' });
    expect([swept.status, swept.stderr]).toEqual([0, '']);
    const results = swept.outcome() as Faulty[];
    expect(results.length).toBe(3 * calls);
    for (const { errno, at, thrown, tree } of results) {
      const where = `errno ${errno} at call ${at}`;
      if (thrown !== undefined || errno !== EACCES) {
        expect([sorted(before), sorted(after)], where).toContainEqual(sorted(new Map(tree)));
        continue;
      }
      for (const [name, node] of tree) {
        // A folder that was created but could not get its final mode keeps the mode of its creation.
        const open = name === 'closed' ? [{ kind: 'dir', mode: 0o755 }] : [];
        expect([before.get(name), after.get(name), ...open], `${where}: ${name}`).toContainEqual(node);
      }
      const thingIn = (all: ReadonlyMap<string, unknown>) => sorted(all).filter(([name]) => name.startsWith('map.'));
      expect([thingIn(before), thingIn(after)], where).toContainEqual(thingIn(new Map(tree)));
    }
    const failures = results.filter(({ errno, failed }) => errno === EACCES && (failed ?? 0) > 0);
    expect(failures.length).toBeGreaterThan(10);
  },
);

it('reverts everything on a real disk without free bytes or inodes, and succeeds on one with room', async () => {
  const scene = await layScene(root, 'disks', false, 60);
  const before = sorted(readTree(scene.project));
  const saved = save(scene);
  expect(run(scene, ['apply']).status).toBe(0);
  const after = sorted(readTree(scene.project));
  // From the size of the project alone to its size with all new contents next to the old ones.
  const room = Array.from({ length: 14 }, (_, at) => 54 + 2 * at);
  const options = [...room.map((pages) => `size=${pages * 4}k`), ...room.map((nodes) => `nr_inodes=${nodes + 6}`)];
  const inside = ['--mount', '--propagation', 'private', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])];
  const outcome = path.join(root, 'outcome');
  const words = [process.execPath, program, scene.request, 'disks', outcome, saved, JSON.stringify(options)];
  execFileSync('unshare', [...inside, ...words], { stdio: ['ignore', 'ignore', 'inherit'] });
  const results = JSON.parse(readFileSync(outcome, 'utf8')) as Faulty[];
  for (const { options: size, tree } of results) {
    expect([before, after], size).toContainEqual(sorted(new Map(tree)));
  }
  for (const kind of ['size', 'nr_inodes']) {
    const of = results.filter(({ options: size }) => size?.startsWith(kind));
    const full = of.filter(({ failed }) => (failed ?? 0) > 0).length;
    expect([full > 3, full < of.length], `${kind}: ${full} of ${of.length}`).toEqual([true, true]);
  }
});
