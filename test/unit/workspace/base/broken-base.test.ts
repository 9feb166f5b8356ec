import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { removeTree } from '../../../../src/core/host/files/remove-tree.ts';
import type { SessionEvent } from '../../../../src/core/types/event.ts';
import type { BaseGeneration } from '../../../../src/workspace/base/base.ts';
import type { BaseOptions } from '../../../../src/workspace/base/base-options.ts';
import { maxEntryBytes } from '../../../../src/workspace/base/generations/generation.ts';
import { releaseRef } from '../../../../src/workspace/base/generations/generation-refs.ts';
import { sweepBases } from '../../../../src/workspace/base/generations/sweep.ts';
import { treeFacts } from '../../../support/tree-facts.ts';
import { refresh } from '../../../support/workspace/refresh-scene.ts';

let dir: string;
let told: SessionEvent[];
const inProject = (name: string): string => path.join(dir, 'project', name);
const inTree = (name: string): string => path.join(dir, 'base/gen/1/tree', name);

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-broken-base-'));
  told = [];
  mkdirSync(inProject('src'), { recursive: true });
  writeFileSync(inProject('src/a'), 'a');
});
afterEach(() => removeTree(dir));

const prepare = (id: string, more: Partial<BaseOptions> = {}): Promise<BaseGeneration> =>
  refresh(dir, id, { tell: (event) => told.push(event), ...more });
const warnings = (): string[] =>
  told.flatMap((one) => (one.kind === 'message' && one.level === 'warning' ? one.text : []));

/** Folders in each other, which no single path can name. */
function makeDeep(top: string): void {
  const name = 'd'.repeat(100);
  execFileSync('sh', ['-c', `for i in $(seq 45); do mkdir ${name} && cd -P ${name} || exit 1; done; echo x > end`], {
    cwd: top,
  });
}

/** Sixteen levels of up to 250 bytes, which together are as long as that. */
function pathOfBytes(bytes: number): string {
  const parts: string[] = [];
  for (let left = bytes; left > 0; left -= 251) parts.push('p'.repeat(Math.min(250, left)));
  return parts.join('/');
}

async function expectEqual(base: BaseGeneration): Promise<void> {
  expect(treeFacts(path.join(base.dir, 'tree'))).toEqual(treeFacts(path.join(dir, 'project')));
}

it('leaves out of the base what its directory could not hold, and goes on working', async () => {
  makeDeep(inProject('src'));
  const max = maxEntryBytes(path.join(dir, 'base'));
  const longest = pathOfBytes(max);
  for (const one of [longest, pathOfBytes(max + 1)]) {
    mkdirSync(path.dirname(inProject(one)), { recursive: true });
    writeFileSync(inProject(one), 'long');
  }
  for (const id of ['one', 'two']) {
    const base = await prepare(id);
    expect(base.leftOut.map(({ path: one, why }) => [one.length > max, why])).toEqual([
      [true, 'its path is too long for the copy'],
      [true, 'its path is too long for the copy'],
    ]);
    expect(readFileSync(path.join(base.dir, 'tree', longest), 'utf8')).toBe('long');
    expect(readFileSync(path.join(base.dir, 'tree/src/a'), 'utf8')).toBe(id === 'one' ? 'a' : 'b');
    releaseRef(path.join(dir, 'base'), id);
    writeFileSync(inProject('src/a'), 'b');
  }
  await removeTree(inProject(`src/${'d'.repeat(100)}`));
  expect((await prepare('three')).leftOut).toHaveLength(1);
  expect(warnings()).toEqual([]);
});

const BREAKS: ReadonlyArray<readonly [string, () => void]> = [
  [
    'a folder of it is a file',
    () => {
      rmSync(inTree('src'), { recursive: true });
      writeFileSync(inTree('src'), '');
    },
  ],
  ['its tree is gone', () => rmSync(inTree(''), { recursive: true })],
  [
    'it has folders that no path can name',
    () => {
      makeDeep(inTree('src'));
      const deep = `src/${Array(45).fill('d'.repeat(100)).join('/')}/end`;
      writeFileSync(path.join(dir, 'base/gen/1/journal'), JSON.stringify([{ path: deep, directory: false }]));
    },
  ],
];

it.each(BREAKS)('makes a base anew that cannot be updated: %s', async (_, damage) => {
  await prepare('one');
  releaseRef(path.join(dir, 'base'), 'one');
  damage();
  writeFileSync(inProject('src/b'), 'b');
  rmSync(inProject('src/a'));
  await expectEqual(await prepare('two'));
  expect(warnings()).toEqual(['The private copy could not be updated. Making it anew.']);
  // The new one is used as it is.
  await expectEqual(await prepare('three'));
  expect(warnings()).toHaveLength(1);
});

it('keeps what another session references while the base is made anew', async () => {
  const first = await prepare('one');
  rmSync(inTree('src'), { recursive: true });
  writeFileSync(inTree('src'), '');
  writeFileSync(inProject('src/b'), 'b');
  await expectEqual(await prepare('two'));
  expect(existsSync(first.dir)).toBe(true);
  expect(warnings()).toHaveLength(1);
});

it('fails clearly where a new copy cannot be made either', async () => {
  await prepare('one');
  releaseRef(path.join(dir, 'base'), 'one');
  writeFileSync(inProject('src/b'), 'b');
  // Where what is removed would go.
  writeFileSync(path.join(dir, 'base/gone'), 'a file');
  rmSync(inTree(''), { recursive: true });
  await expect(prepare('two')).rejects.toMatchObject({ code: expect.stringMatching(/^(BASE|RECORD)_UNWRITABLE$/) });
});

it('is removed by gc at once when it cannot be used, unless a start is under way or a session references it', async () => {
  const bases = path.join(dir, 'bases');
  const make = async (name: string): Promise<string> => {
    const base = path.join(bases, name);
    await prepare(name, { dir: base });
    return base;
  };
  const whole = await make('whole');
  const torn = await make('torn');
  const headless = await make('headless');
  const referenced = await make('referenced');
  const locked = await make('locked');
  writeFileSync(path.join(torn, 'gen/1/journal'), '[]');
  writeFileSync(path.join(headless, 'gen/1/manifest'), 'x');
  for (const base of [referenced, locked]) rmSync(path.join(base, 'gen/1/manifest'));
  for (const base of [whole, torn, headless, locked]) releaseRef(base, path.basename(base));
  writeFileSync(path.join(locked, 'lock'), '{"of":"another release"}');
  const expected = [headless, torn];
  expect((await sweepBases(bases, 30, true)).map((one) => one.dir).sort()).toEqual(expected);
  expect(readdirSync(bases)).toHaveLength(5);
  const swept = await sweepBases(bases, 30, false);
  expect(swept.map((one) => [one.dir, one.broken]).sort()).toEqual(expected.map((one) => [one, true]));
  expect(readdirSync(bases).sort()).toEqual(['locked', 'referenced', 'whole']);
});
