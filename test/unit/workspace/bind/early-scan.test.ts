import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import type { Plan } from '../../../../src/core/types/plan.ts';
import { beginEarlyScan } from '../../../../src/workspace/bind/early-scan.ts';

afterEach(() => void vi.useRealTimers());

function begin(project: Partial<Plan['project']> = {}) {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-early-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  writeFileSync(path.join(root, 'a.txt'), 'x');
  return beginEarlyScan({ root, git: 'none', ...project } as Plan['project'], { mask: [] });
}

it('gives the scan once, for the same part of the project', async () => {
  const early = begin();
  await early.counted;
  expect([...((await early.take(false))?.entries.keys() ?? [])]).toEqual(['a.txt']);
  expect(await early.take(false)).toBeUndefined();
  expect(await begin().take(true)).toBeUndefined();
});

it('gives no scan that is too old: what was saved since then is from before the session', async () => {
  const early = begin();
  await early.counted;
  vi.useFakeTimers({ now: Date.now() + 1100, toFake: ['Date'] });
  expect(await early.take(false)).toBeUndefined();
});

it('does not fail where the project cannot be read', async () => {
  const early = begin({ root: '/dev/null/none' });
  expect(await early.counted).toMatchObject({ files: 0 });
  expect(await early.take(false)).toMatchObject({ entries: new Map() });
});
