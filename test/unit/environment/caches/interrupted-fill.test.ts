import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import { withoutInterruptedFill } from '../../../../src/environment/caches/fill/interrupted-fill.ts';
import { markerOf, readMarker } from '../../../../src/environment/caches/marker.ts';
import { cachesOwner } from '../../../../src/environment/caches/owner.ts';

function scratch(): string {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-caches-')));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

/** An engine with a container of each session, and the names of those that were removed. */
function engineWith(...sessions: string[]): { readonly engine: Engine; readonly removed: string[] } {
  const removed: string[] = [];
  const engine = {
    list: async (id: string) => sessions.filter((one) => one === id).map((name) => ({ kind: 'container', name })),
    running: { find: async (name: string) => ({ remove: async () => void removed.push(name) }) },
  };
  return { engine: engine as unknown as Engine, removed };
}

it('ends the containers of a session that was killed while it filled the cache, and no others', async () => {
  const dir = scratch();
  const file = path.join(dir, 'filling.json');
  const { engine, removed } = engineWith('killed', 'other');
  writeFileSync(file, '{"version":1,"session":"killed"}');
  const during = await withoutInterruptedFill(engine, dir, 'mine', async () => readFileSync(file, 'utf8'));
  expect([JSON.parse(during), removed, existsSync(file)]).toEqual([{ version: 1, session: 'mine' }, ['killed'], false]);
});

it('a cache that is filled again is not one that was filled', async () => {
  const dir = scratch();
  writeFileSync(markerOf(dir), JSON.stringify({ version: 1, ecosystem: 'npm' }));
  expect(readMarker(dir)).toBeDefined();
  expect(await withoutInterruptedFill(engineWith().engine, dir, 'mine', async () => readMarker(dir))).toBeUndefined();
});

it('a fill that fails names no session afterwards: that session goes on without the cache', async () => {
  const dir = scratch();
  const { engine, removed } = engineWith('mine');
  const failed = withoutInterruptedFill(engine, dir, 'mine', () => Promise.reject(new Error('the disk is full')));
  await expect(failed).rejects.toThrow('the disk is full');
  await withoutInterruptedFill(engine, dir, 'next', async () => undefined);
  expect(removed).toEqual([]);
});

it('a damaged note of a fill is not followed', async () => {
  const dir = scratch();
  for (const text of ['', '{', 'null', '{"session":1}', '{"session":""}']) {
    writeFileSync(path.join(dir, 'filling.json'), text);
    const { engine, removed } = engineWith('');
    await withoutInterruptedFill(engine, dir, 'mine', async () => undefined);
    expect(removed, text).toEqual([]);
  }
});

it('the random part of addresses is made once for each user', () => {
  const [one, other] = [scratch(), scratch()];
  expect(cachesOwner(one)).toMatch(/^[0-9a-f]{32}$/);
  expect(cachesOwner(one)).toBe(cachesOwner(one));
  expect(cachesOwner(other)).not.toBe(cachesOwner(one));
});
