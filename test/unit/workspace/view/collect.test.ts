import type { ChildProcess } from 'node:child_process';
import { appendFileSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Interrupted } from '../../../../src/core/errors.ts';
import { openContentStore } from '../../../../src/core/store/content.ts';
import { EVERYTHING } from '../../../../src/core/text/selection.ts';
import type { ListedEntry } from '../../../../src/core/types/collector.ts';
import type { Collected } from '../../../../src/core/types/entry.ts';
import { neededOf, possibleMembers } from '../../../../src/review/choices/file-sets.ts';
import type { Collector } from '../../../../src/workspace/collector/client.ts';
import { lackingPaths } from '../../../../src/workspace/scan/lacking.ts';
import { collectChanges } from '../../../../src/workspace/view/collect/collect.ts';
import type { CollectRules } from '../../../../src/workspace/view/collect/collect-options.ts';
import { openFrozenFiles } from '../../../../src/workspace/view/collect/frozen-files.ts';
import { runCollector } from '../../../support/collector-program.ts';

let dir: string;
let children: ChildProcess[];
let read: string[];

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-collect-'));
  children = [];
  read = [];
  for (const name of ['upper', 'base']) mkdirSync(path.join(dir, name));
});
afterEach(() => {
  for (const child of children) child.kill();
  rmSync(dir, { recursive: true });
});

const upper = (name: string): string => path.join(dir, 'upper', name);
const progress = (): string => path.join(dir, 'frozen-files');

/** A collector of the scene that records which files are read. */
async function start(): Promise<Collector> {
  const { collector, child } = await runCollector({ upper: path.join(dir, 'upper'), base: path.join(dir, 'base') });
  children.push(child);
  return {
    ...collector,
    readUpTo(root, file, max) {
      read.push(file);
      return collector.readUpTo(root, file, max);
    },
  };
}

async function collect(collector: Collector, signal?: AbortSignal, rules: CollectRules = {}): Promise<Collected> {
  const present: ListedEntry[] = [];
  for await (const entry of collector.list('upper')) present.push(entry);
  const store = openContentStore(path.join(dir, 'store'));
  return collectChanges({
    collector,
    delta: { present, deleted: [], opaque: [] },
    store,
    frozen: openFrozenFiles(progress(), store),
    lacking: lackingPaths(EVERYTHING, []),
    includeIgnored: false,
    baseEntries: 0,
    sparseBytes: 0,
    room: async () => 1e12,
    tell: () => undefined,
    ...rules,
    ...(signal === undefined ? {} : { signal }),
  });
}

it('reads a file with many names once', async () => {
  writeFileSync(upper('first'), 'x'.repeat(1 << 20));
  for (let i = 0; i < 3000; i++) linkSync(upper('first'), upper(`name-${i}`));
  writeFileSync(upper('other'), 'x'.repeat(1 << 20));
  const { changes } = await collect(await start());
  expect(changes).toHaveLength(3002);
  expect(new Set(changes.map(({ after }) => after?.digest)).size).toBe(1);
  expect(read).toHaveLength(2);
});

it('ends within a second of an interruption, also in the middle of a large file, and goes on from what is done', async () => {
  for (let i = 0; i < 200; i++) writeFileSync(upper(`a${i}`), String(i).repeat(1 << 14));
  writeFileSync(upper('large'), '');
  for (let i = 0; i < 8; i++) appendFileSync(upper('large'), Buffer.alloc(16 << 20, i));
  const collector = await start();
  const cut = new AbortController();
  const collecting = collect(collector, cut.signal);
  await expect.poll(() => read.includes('large'), { interval: 1 }).toBe(true);
  const reason = new Interrupted('SIGTERM');
  const since = Date.now();
  cut.abort(reason);
  collector.interrupt(reason);
  await expect(collecting).rejects.toBe(reason);
  expect(Date.now() - since).toBeLessThan(1000);
  const done = read.length;

  read = [];
  writeFileSync(upper('a7'), 'written since');
  const { changes } = await collect(await start());
  expect(changes).toHaveLength(201);
  expect(changes.filter(({ problem }) => problem !== undefined)).toEqual([]);
  // What was being read, the file that is new, and nothing that was done.
  expect(read).toEqual(expect.arrayContaining(['a7', 'large']));
  expect(read.length).toBeLessThanOrEqual(201 - done + 16 + 1);
});

it.each([
  ['of another boot', (text: string) => text.replace(/"bootId":"[^"]+"/, '"bootId":"another"')],
  ['that is damaged', (text: string) => text.replace('["upper', '{"upper')],
  ['of which the store has nothing', (text: string) => text.replaceAll(/[0-9a-f]{64}/g, '0'.repeat(64))],
])('does not go on from a record %s', async (_, change) => {
  writeFileSync(upper('one'), 'one');
  await collect(await start());
  writeFileSync(progress(), change(readFileSync(progress(), 'utf8')));
  read = [];
  const { changes } = await collect(await start());
  expect([read, changes.map(({ after }) => after?.size)]).toEqual([['one'], [3]]);
});

it('goes on where a kill cut off the last line', async () => {
  for (const name of ['one', 'two']) writeFileSync(upper(name), name);
  await collect(await start());
  writeFileSync(progress(), readFileSync(progress(), 'utf8').slice(0, -5));
  read = [];
  await collect(await start());
  expect(read).toHaveLength(1);
});

it('freezes the other files of one thing: ignored ones that have a part of it, and those that were left as they were', async () => {
  for (const name of ['app.db', 'roads.dbf']) writeFileSync(path.join(dir, 'base', name), 'old');
  writeFileSync(path.join(dir, 'base', '.gitignore'), '*.db-*\n*.tmp\n');
  writeFileSync(upper('.gitignore'), '*.db-*\n*.tmp\n');
  for (const name of ['app.db', 'app.db-wal', 'app.db-shm', 'x.tmp', 'roads.shp']) writeFileSync(upper(name), name);
  const { changes, leftMembers } = await collect(await start(), undefined, { members: { neededOf, possibleMembers } });
  expect(changes.map(({ path: name, ignored }) => [name, ignored])).toEqual([
    ['app.db', undefined],
    ['app.db-wal', true],
    ['roads.shp', undefined],
  ]);
  expect(changes[1]?.after?.digest).toBeDefined();
  const left = new Map(leftMembers?.map((one) => [one.path as string, one.entry]));
  expect(left.get('roads.dbf')?.digest).toBeDefined();
  expect([left.has('roads.prj'), left.get('roads.prj'), left.has('app.db')]).toEqual([true, undefined, false]);
});
