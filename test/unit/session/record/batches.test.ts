import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { planGc, runGc } from '../../../../src/session/later/gc/gc.ts';
import { batchesDir, listBatches } from '../../../../src/session/record/find/batches.ts';

it('gc removes the records of a batch 30 days after its last task, and no others', async () => {
  const state = mkdtempSync(path.join(tmpdir(), 'run-claude-batches-'));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  expect(listBatches(state)).toEqual([]);
  const [old, young] = ['old', 'young'].map((name) => path.join(batchesDir(state), name)) as [string, string];
  for (const dir of [old, young]) {
    mkdirSync(dir, { recursive: true });
    writeFileSync(path.join(dir, 'task.json'), '{}');
  }
  const nowMs = Date.now();
  utimesSync(old, nowMs / 1000, (nowMs - 31 * 86_400_000) / 1000);
  const places = { stateDir: state, cacheDir: state, dataDir: state };
  const options = { places, engine: undefined, nowMs, currentImages: [] };
  expect(await planGc(options)).toEqual([{ kind: 'batch', name: old, why: 'its last task ended 31 days ago' }]);
  expect(await runGc(options)).toMatchObject({ problems: [] });
  expect([old, young].map((dir) => existsSync(dir))).toEqual([false, true]);
});
