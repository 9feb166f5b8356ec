import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import type { Collector } from '../../../../src/workspace/collector/client.ts';
import { overlayDelta } from '../../../../src/workspace/layer/overlay-layer.ts';
import { liveReader } from '../../../../src/workspace/view/live.ts';
import type { LiveReader } from '../../../../src/workspace/view/workspace.ts';
import { runCollector } from '../../../support/collector-program.ts';

/** What the collector was asked, and how often the layer was compared with the base. */
interface Asked {
  stats: number;
  contents: number;
  lists: number;
  compared: number;
}

const parent = mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'run-claude-live-'));
let dir: string;
let count = 0;
let stop: (() => void) | undefined;
beforeEach(() => {
  dir = path.join(parent, String(++count));
  for (const side of ['base', 'upper']) mkdirSync(path.join(dir, side), { recursive: true });
});
afterEach(() => {
  stop?.();
  rmSync(dir, { recursive: true });
});
afterAll(() => rmSync(parent, { recursive: true }));

const put = (name: string, content = 'x'): void => {
  mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
  writeFileSync(path.join(dir, name), content);
};
const fill = (name: string, files: number): void => {
  mkdirSync(path.join(dir, name), { recursive: true });
  for (let i = 0; i < files; i++) writeFileSync(path.join(dir, name, `f${i}`), 'x');
};

/** A reader of both sides, by a collector whose requests are counted. */
async function watch(includeIgnored: boolean | readonly string[] = false): Promise<{ live: LiveReader; asked: Asked }> {
  const { collector } = await runCollector({ upper: path.join(dir, 'upper'), base: path.join(dir, 'base') });
  stop = () => collector.close();
  const asked: Asked = { stats: 0, contents: 0, lists: 0, compared: 0 };
  const counted: Collector = {
    ...collector,
    stat(root, at) {
      asked.stats++;
      return collector.stat(root, at);
    },
    readUpTo(root, at, max) {
      asked.contents++;
      return collector.readUpTo(root, at, max);
    },
    async listBytes(...words) {
      asked.lists++;
      return collector.listBytes(...words);
    },
    async *listUpTo(...words) {
      asked.lists++;
      yield* collector.listUpTo(...words);
    },
  };
  const delta = (from: Collector) => {
    asked.compared++;
    return overlayDelta(from);
  };
  return { live: liveReader(counted, { delta }, { includeIgnored, hasSetup: false }), asked };
}

it('lists changes among 12,000 ignored files and git’s own, and counts the ignored ones by directory', async () => {
  put('base/.gitignore', 'node_modules/\n*.log\n');
  put('base/old.log');
  fill('upper/node_modules/p', 12_000);
  fill('upper/.git/objects', 12_000);
  fill('upper/sub/.git/objects', 3);
  for (const name of ['src/a', 'new.log', 'old.log']) put(`upper/${name}`, 'changed');
  const { live, asked } = await watch();
  const first = await live.look(true);
  expect(first.changes.map(({ path: at, kind }) => `${kind} ${at}`)).toEqual([
    'modified old.log',
    'created src',
    'created src/a',
    'created sub',
  ]);
  expect(first.ignored).toEqual([
    { directory: 'new.log', entries: 1, bytes: 7 },
    { directory: 'node_modules', entries: 12_002, bytes: 12_000 },
  ]);
  // Between two counts nothing of it is even listed.
  asked.lists = 0;
  put('upper/src/b');
  const next = await live.look(false);
  expect(next.changes.map(({ path: at }) => at)).toContain('src/b');
  expect(next.ignored).toEqual(first.ignored);
  // The root, src, sub.
  expect(asked.lists).toBe(3);
});

it('enters an ignored directory that contains a requested path', async () => {
  put('base/.gitignore', 'out/\n');
  for (const name of ['out/a.txt', 'out/b.bin']) put(`upper/${name}`);
  const { live } = await watch(['*.txt']);
  for (const counting of [true, false]) {
    const { changes, ignored } = await live.look(counting);
    expect([changes.map(({ path: at }) => at), ignored]).toEqual([
      ['out/a.txt'],
      [{ directory: 'out', entries: 2, bytes: 1 }],
    ]);
  }
});

it('reads a base of 50,000 entries once, and repeats nothing while nothing changes', async () => {
  for (let i = 0; i < 50; i++) mkdirSync(path.join(dir, `base/d${i}`));
  for (let i = 0; i < 50; i++) fill(`upper/d${i}`, 1000);
  const { live, asked } = await watch();
  const first = await live.look(false);
  expect(first.changes).toHaveLength(50_000);
  expect(asked.stats).toBeGreaterThan(50_000);
  const forget = (): unknown => Object.assign(asked, { stats: 0, contents: 0, lists: 0, compared: 0 });
  forget();
  const idle = await live.look(false);
  // The very same list: each directory is listed once, and that is all.
  expect(idle.changes).toBe(first.changes);
  expect(asked).toEqual({ stats: 0, contents: 0, lists: 51, compared: 0 });
  forget();
  appendFileSync(path.join(dir, 'upper/d7/f7'), 'more');
  put('upper/d8/fresh');
  const busy = await live.look(false);
  expect(busy.changes).toHaveLength(50_001);
  expect(busy.changes.find(({ path: at }) => at === 'd7/f7')?.size).toBe(5);
  expect(asked.stats).toBe(1);
});
