import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openContentStore } from '../../../src/store/content.ts';
import type { Choice } from '../../../src/types/review.ts';
import { changesBetween, readTimes, readTree, type Tree, writeTree } from '../../apply/tree.ts';
import { compileProgram } from '../../compile.ts';

/** In memory where there is such a place: thousands of fsyncs then cost nothing, and their order is counted all the same. */
const root = mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'run-claude-crash-'));
const shim = path.join(root, 'shim.so');
let program = '';

const file = (text: string, mode = 0o644) => ({ kind: 'file', text, mode }) as const;
const dir = { kind: 'dir', mode: 0o755 } as const;
const link = (target: string) => ({ kind: 'symlink', target }) as const;

/** Everything that apply can do: write, create, delete, modes, links, kinds both ways, nested folders, a closed folder. */
const base: Tree = new Map<string, ReturnType<typeof file> | typeof dir | ReturnType<typeof link>>([
  ['deep', dir],
  ['deep/er', dir],
  ['deep/er/one', file('one\n')],
  ['deep/er/two', file('two\n', 0o600)],
  ['gone', dir],
  ['gone/a', file('a\n')],
  ['gone/b', file('b\n')],
  ['kind', dir],
  ['kind/x', file('x\n')],
  ['link', link('deep')],
  ['mode', file('mode\n')],
  ['plain', file('plain\n')],
  ['turn', file('turn\n')],
]);
const session: Tree = new Map<
  string,
  ReturnType<typeof file> | { kind: 'dir'; mode: number } | ReturnType<typeof link>
>([
  ['closed', { kind: 'dir', mode: 0o555 }],
  ['closed/in', file('in\n')],
  ['deep', dir],
  ['deep/er', dir],
  ['deep/er/one', file('ONE\n')],
  ['deep/er/two', file('TWO\n', 0o600)],
  ['kind', file('a file now\n')],
  ['link', link('plain')],
  ['made', dir],
  ['made/new', file('new\n'.repeat(50_000), 0o755)],
  ['mode', file('mode\n', 0o755)],
  ['plain', file('PLAIN\n')],
  ['turn', dir],
  ['turn/ed', file('ed\n')],
]);

interface Scene {
  readonly project: string;
  readonly sessionDir: string;
  readonly request: string;
}

async function layScene(name: string, linked: boolean): Promise<Scene> {
  const folder = path.join(root, name);
  const scene = {
    project: path.join(folder, 'project'),
    sessionDir: path.join(folder, 's', 'sessions', '1'),
    request: path.join(folder, 'r.json'),
  };
  mkdirSync(scene.project, { recursive: true });
  writeTree(scene.project, base);
  if (linked) execFileSync('ln', [path.join(scene.project, 'plain'), path.join(scene.project, 'twin')]);
  const store = path.join(scene.sessionDir, 'store');
  const changes = await changesBetween(base, session, openContentStore(store));
  const choice: Choice = {
    decided: true,
    discard: false,
    chosen: changes.map((change) => ({ change })),
    left: [],
    folders: [],
  };
  writeFileSync(scene.request, JSON.stringify({ ...scene, store, choice }));
  return scene;
}

function run(scene: Scene, action: string, env: Record<string, string> = {}) {
  const preload =
    Object.keys(env).length === 0
      ? {}
      : { LD_PRELOAD: shim, UV_USE_IO_URING: '0', SHIM_START: `${scene.request}.start` };
  const result = spawnSync(process.execPath, [program, scene.request, action, `${scene.request}.outcome`], {
    env: { PATH: process.env['PATH'] ?? '', ...preload, ...env },
    encoding: 'utf8',
  });
  return { ...result, outcome: () => JSON.parse(readFileSync(`${scene.request}.outcome`, 'utf8')) };
}

const sorted = (tree: Tree): unknown[] => [...tree].sort(([a], [b]) => (a < b ? -1 : 1));

/** A copy of the scene as it was laid, times included. */
function restore(scene: Scene, from: string): void {
  rmSync(path.dirname(scene.request), { recursive: true, force: true });
  execFileSync('cp', ['-a', from, path.dirname(scene.request)]);
}

beforeAll(() => {
  execFileSync('cc', [
    '-shared',
    '-fPIC',
    '-O1',
    '-o',
    shim,
    path.resolve(import.meta.dirname, '../../apply-shim/shim.c'),
    '-ldl',
  ]);
  program = compileProgram(path.resolve(import.meta.dirname, '../../apply/crash-program.ts'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function countCalls(scene: Scene, action: string): number {
  const result = run(scene, action, { SHIM_COUNT: `${scene.request}.count` });
  expect(result.stderr).toBe('');
  return Number(readFileSync(`${scene.request}.count`, 'utf8'));
}

describe.each([
  ['apply', false],
  ['apply', true],
  ['undo', false],
  ['undo', true],
] as const)('killed at every call of %s (hard links: %s)', (action, linked) => {
  it('leaves each file old or new after recovery, none torn, none missing', { timeout: 600_000 }, async () => {
    const scene = await layScene(`${action}-${linked}`, linked);
    const old = readTree(scene.project);
    const oldTimes = readTimes(scene.project, old);
    if (action === 'undo') expect(run(scene, 'apply').status).toBe(0);
    const before = readTree(scene.project);
    const saved = `${path.dirname(scene.request)}.saved`;
    execFileSync('cp', ['-a', path.dirname(scene.request), saved]);
    const calls = countCalls(scene, action);
    const after = readTree(scene.project);
    expect(sorted(after)).not.toEqual(sorted(before));
    if (action === 'undo') expect(readTimes(scene.project, old)).toEqual(oldTimes);
    expect(calls).toBeGreaterThan(60);
    for (let at = 1; at <= calls; at++) {
      restore(scene, saved);
      const killed = run(scene, action, { SHIM_AT: String(at), SHIM_DO: 'kill' });
      expect(killed.signal, `call ${at}`).toBe('SIGKILL');
      const recovered = run(scene, 'recover');
      expect(recovered.stderr).toBe('');
      const tree = sorted(readTree(scene.project));
      // Before the journal was ready nothing has happened; from there on everything.
      expect([sorted(before), sorted(after)], `call ${at}`).toContainEqual(tree);
    }
  });
});

it.each([
  ['ENOSPC', 28],
  ['EIO', 5],
])('takes everything back when the disk says %s at any call', { timeout: 600_000 }, async (name, errno) => {
  const scene = await layScene(`fail-${name}`, false);
  const before = sorted(readTree(scene.project));
  const saved = `${path.dirname(scene.request)}.saved`;
  execFileSync('cp', ['-a', path.dirname(scene.request), saved]);
  const calls = countCalls(scene, 'apply');
  const after = sorted(readTree(scene.project));
  for (let at = 1; at <= calls; at += 3) {
    restore(scene, saved);
    run(scene, 'apply', { SHIM_AT: String(at), SHIM_DO: String(errno), SHIM_ONCE: '1' });
    run(scene, 'recover');
    expect([before, after], `${name} at call ${at}`).toContainEqual(sorted(readTree(scene.project)));
  }
});

it('fails single paths and goes on when one call is not permitted', { timeout: 600_000 }, async () => {
  const scene = await layScene('eacces', false);
  const before = readTree(scene.project);
  const saved = `${path.dirname(scene.request)}.saved`;
  execFileSync('cp', ['-a', path.dirname(scene.request), saved]);
  const calls = countCalls(scene, 'apply');
  const after = readTree(scene.project);
  let failures = 0;
  for (let at = 1; at <= calls; at += 4) {
    restore(scene, saved);
    const result = run(scene, 'apply', { SHIM_AT: String(at), SHIM_DO: '13', SHIM_ONCE: '1' });
    const tree = readTree(scene.project);
    if (result.status !== 0) {
      // The journal or the store could not be written: nothing was begun.
      expect(sorted(tree), `call ${at}`).toEqual(sorted(before));
      continue;
    }
    failures += result.outcome().changes.filter((change: { verdict: string }) => change.verdict === 'failed').length;
    for (const [name, node] of tree)
      expect([before.get(name), after.get(name)], `${name}, call ${at}`).toContainEqual(node);
  }
  expect(failures).toBeGreaterThan(5);
});
