import { mkdirSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { FoundObject } from '../../../../src/core/types/engine.ts';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import { planGc } from '../../../../src/session/later/gc/gc.ts';
import { isWatchReader } from '../../../../src/workspace/view/open.ts';
import { recordSessions } from '../../../support/session-fixture.ts';

const NOW = Date.now();
const MINUTE_MS = 60_000;
const ids = { running: '261121-140512-k7p', deleted: '261121-140513-k7p', reserved: '261121-140514-k7p' };
const found = (id: string, name: string, more: Partial<FoundObject> = {}): FoundObject => ({
  kind: 'container',
  id: name,
  name: `run-claude-${id}${name}`,
  labels: { 'run-claude.session': id },
  running: true,
  createdMs: NOW - 5 * MINUTE_MS,
  ...more,
});

/** Names of what gc lists on an engine with these objects. */
async function listed(objects: readonly FoundObject[]): Promise<string[]> {
  const state = recordSessions([{ id: ids.running, stage: 'running', started: new Date(NOW).toISOString() }]);
  const reserved = path.join(state, 'sessions', ids.reserved);
  mkdirSync(reserved);
  utimesSync(reserved, 0, 0);
  const engine = { list: async () => objects, facts: { endpoint: 'unix:///e' } } as unknown as Engine;
  const places = { stateDir: state, cacheDir: state, dataDir: state };
  const items = await planGc({ places, engine, nowMs: NOW, currentImages: [] });
  return items.filter(({ kind }) => kind !== 'session').map(({ name }) => name);
}

it('takes what runs of a session whose directory was deleted, and keeps the volumes that may hold work', async () => {
  const { deleted, running } = ids;
  const objects = [
    found(deleted, ''),
    found(deleted, '-gateway'),
    found(deleted, '-net', { kind: 'network', running: false }),
    found(deleted, '-layer', { kind: 'volume', running: false }),
    found(running, ''),
    // Not the id of a session.
    found('data-0123', ''),
  ];
  expect(await listed(objects)).toEqual([
    `run-claude-${deleted}`,
    `run-claude-${deleted}-gateway`,
    `run-claude-${deleted}-net`,
  ]);
});

it('takes the reader of a diff --follow that was killed, while its session runs', async () => {
  const { running } = ids;
  const objects = [
    found(running, '-watch-123', { running: false }),
    found(running, '-watch-124'),
    found(running, '-watch-125', { running: false, createdMs: NOW - 1000 }),
    found(running, '-gateway', { running: false }),
  ];
  expect(await listed(objects)).toEqual([`run-claude-${running}-watch-123`]);
  expect(['run-claude-x-watch-1', 'run-claude-watch-x', 'watch-'].map(isWatchReader)).toEqual([true, false, false]);
});

it('takes the container of a start that was killed before its record with the first gc that takes its directory', async () => {
  const old = { running: false, createdMs: NOW - 120 * MINUTE_MS };
  expect(await listed([found(ids.reserved, '-trial', old)])).toEqual([`run-claude-${ids.reserved}-trial`]);
});
