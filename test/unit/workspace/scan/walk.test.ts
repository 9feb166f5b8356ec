import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { decodeBytes, encodeBytes } from '../../../../src/core/text/path.ts';
import { type SelectionRules, selectPaths } from '../../../../src/core/text/selection.ts';
import { readRows } from '../../../../src/workspace/scan/packed-directory.ts';
import {
  compareSnapshots,
  encodeSnapshot,
  loadSnapshot,
  type Snapshot,
} from '../../../../src/workspace/scan/snapshot.ts';
import { walkTree } from '../../../../src/workspace/scan/walk.ts';

// A tree that several threads walk together, next to what lstat says of each entry, one after the other.

const dir = mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'run-claude-walk-'));
const root = path.join(dir, 'project');
const at = (one: string): Buffer => encodeBytes(`${root}/${one}`);
const NOTHING: SelectionRules = { exclude: [], include: [], mask: [] };
const walk = (known?: Snapshot, rules: Partial<SelectionRules> = {}) =>
  walkTree({ root, known, selection: selectPaths({ ...NOTHING, ...rules }) });

beforeAll(() => {
  for (let i = 0; i < 12_000; i++) {
    const folder = `d${i % 40}/e${i % 200}`;
    if (i < 200) mkdirSync(path.join(root, folder), { recursive: true });
    writeFileSync(path.join(root, folder, `f${i}`), '');
  }
  for (const odd of ['d0/\udcff\udcfe', 'd0/\udcff\udcfe/é', 'd1/\ufffd', 'd1/\ufffd/\udcff', '🙂 a']) {
    mkdirSync(at(odd));
    writeFileSync(at(`${odd}/x`), odd);
    writeFileSync(at(`${odd}/\udcf0`), odd);
  }
  symlinkSync('/', path.join(root, 'd2/link'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Path and what tells one state of an entry from another, by plain calls. */
function byHand(below = '', found = new Map<string, string>()): Map<string, string> {
  const here = below === '' ? Buffer.from(root) : at(below);
  for (const name of readdirSync(here, { encoding: 'buffer' })) {
    const one = (below === '' ? '' : `${below}/`) + decodeBytes(name);
    const stat = lstatSync(at(one));
    found.set(
      one,
      [stat.mode & 0o7777, stat.isDirectory() ? 0 : stat.size, stat.mtimeMs, stat.ctimeMs, stat.ino].join(),
    );
    if (stat.isDirectory()) byHand(one, found);
  }
  return found;
}

function flat(snapshot: Snapshot): Map<string, string> {
  const found = new Map<string, string>();
  for (const [folder, section] of snapshot) {
    for (const row of readRows(section).values()) {
      const facts = [row.mode, row.size, row.mtimeMs, row.ctimeMs, row.ino].join();
      found.set((folder === '' ? '' : `${folder}/`) + row.name, facts);
    }
  }
  return found;
}

const sorted = (map: Map<string, string>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

it('finds every entry, stores the result on disk, and later reports only edited entries as different', async () => {
  const first = await walk();
  expect(sorted(flat(first.snapshot))).toEqual(sorted(byHand()));
  expect(first.leftOut).toEqual([]);
  const file = path.join(dir, 'manifest');
  writeFileSync(file, Buffer.concat([...encodeSnapshot({ says: 'a header' }, first.snapshot)]));
  const { header, snapshot: known } = loadSnapshot(file);
  expect(header).toEqual({ says: 'a header' });
  expect([...compareSnapshots(known, (await walk(known)).snapshot)]).toEqual([]);

  const before = byHand();
  writeFileSync(at('d0/\udcff\udcfe/x'), 'edited');
  writeFileSync(at('d1/\ufffd/\udcff/new'), '');
  rmSync(path.join(root, 'd3'), { recursive: true });
  renameSync(path.join(root, 'd4/e4'), path.join(root, 'd4/moved'));
  // The same names below, seen through a link: nothing of them is the project's.
  renameSync(path.join(root, 'd5'), path.join(dir, 'd5'));
  symlinkSync('../d5', path.join(root, 'd5'));
  const after = byHand();
  const wanted = [...new Set([...before.keys(), ...after.keys()])].filter((one) => before.get(one) !== after.get(one));
  const second = await walk(known);
  expect(sorted(flat(second.snapshot))).toEqual(sorted(after));
  const told = [...compareSnapshots(known, second.snapshot)].map(({ path: one }) => one);
  // Of a deleted directory only the directory itself is a difference.
  const gone = wanted.filter((one) => !after.has(one) && !after.has(path.posix.dirname(one)) && one.includes('/'));
  expect(told.sort()).toEqual(wanted.filter((one) => !gone.includes(one) && !one.startsWith('d5/')).sort());
  // What is as it was is not held twice.
  expect(second.snapshot.get('d9/e9')).toBe(known.get('d9/e9'));
});

it('applies the current rules to each entry, whatever rules an earlier scan had', async () => {
  const all = await walk();
  const rules = { exclude: ['e7/', '/d1/\ufffd'], mask: ['f1*'] };
  const some = await walk(all.snapshot, rules);
  const names = [...flat(some.snapshot).keys()];
  expect(names.filter((one) => /(^|\/)e7(\/|$)/.test(one) || one.startsWith('d1/\ufffd'))).toEqual([]);
  expect(names.length).toBe(
    [...flat(all.snapshot).keys()].filter((one) => !/(^|\/)e7(\/|$)/.test(one) && !one.startsWith('d1/\ufffd')).length,
  );
  expect(readRows(some.snapshot.get('d1/e1')).get('f1')?.kind).toBe('m');
  expect(some.withheld).toContain('d7/e7');
  const again = await walk(some.snapshot, rules);
  expect(compareSnapshots(some.snapshot, again.snapshot).any).toBe(false);
  expect(sorted(flat((await walk(again.snapshot)).snapshot))).toEqual(sorted(byHand()));
});
