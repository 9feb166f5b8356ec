import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeFileAtomic } from '../../../../src/core/store/record.ts';
import { planGc, runGc } from '../../../../src/session/later/gc/gc.ts';
import { sweepGenerations } from '../../../../src/workspace/base/generations/generation.ts';
import { GENERATION_FORMAT } from '../../../../src/workspace/base/generations/manifest.ts';
import { emptyTrash, emptyTrashLater, hasTrash } from '../../../../src/workspace/base/generations/trash.ts';
import { encodeSnapshot } from '../../../../src/workspace/scan/snapshot.ts';

let root: string;
let dir: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'run-claude-gone-'));
  dir = path.join(root, 'bases', 'key');
  for (const number of [1, 2, 3]) {
    const closed = path.join(dir, 'gen', String(number), 'tree', 'closed');
    mkdirSync(closed, { recursive: true });
    writeFileSync(path.join(closed, 'f'), 'x');
    chmodSync(closed, 0o500);
  }
  // Finished, as the newest one is in a base that can be used.
  const header = {
    version: GENERATION_FORMAT,
    bootId: '',
    state: '',
    owner: null,
    project: root,
    root: { mode: 0o700, mtimeMs: 0 },
    unreadable: [],
    dropped: [],
  };
  writeFileAtomic(path.join(dir, 'gen/3/manifest'), encodeSnapshot(header, new Map()));
});
afterEach(() => {
  emptyTrash(dir);
  sweepGenerations(dir, new Set());
  emptyTrash(dir);
  rmSync(root, { recursive: true });
});

it('is moved at once and not yet deleted, because a start must not wait for the removal', () => {
  sweepGenerations(dir, new Set([2]));
  expect(readdirSync(path.join(dir, 'gen'))).toEqual(['2']);
  expect(
    readdirSync(path.join(dir, 'gone'))
      .map((name) => name.replace(/-.*/, ''))
      .sort(),
  ).toEqual(['1', '3']);
  expect(hasTrash(dir)).toBe(true);
});

it('is deleted later, in the background or on demand, and nothing else is', async () => {
  const { mtimeMs } = statSync(path.join(dir, 'gen/3/tree/closed'));
  sweepGenerations(dir, new Set([2, 3]));
  emptyTrashLater(dir);
  await expect.poll(() => hasTrash(dir)).toBe(false);
  sweepGenerations(dir, new Set([3]));
  emptyTrash(dir);
  expect(hasTrash(dir)).toBe(false);
  expect(readdirSync(path.join(dir, 'gen'))).toEqual(['3']);
  expect(statSync(path.join(dir, 'gen/3/tree/closed')).mtimeMs).toBe(mtimeMs);
  expect(existsSync(path.join(dir, 'gen/3/tree/closed/f'))).toBe(true);
});

it('is named and deleted by gc, which keeps the base', async () => {
  const places = { stateDir: root, cacheDir: root, dataDir: root };
  const options = { places, engine: undefined, nowMs: Date.now(), currentImages: [] };
  expect(await planGc(options)).toEqual([]);
  sweepGenerations(dir, new Set([3]));
  const item = { kind: 'base', name: path.join(dir, 'gone'), why: expect.stringContaining('older states') };
  expect(await planGc(options)).toEqual([item]);
  expect(await runGc(options)).toEqual({ removed: [item], problems: [] });
  expect([hasTrash(dir), readdirSync(path.join(dir, 'gen'))]).toEqual([false, ['3']]);
});
