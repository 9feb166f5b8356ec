import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Said } from '../../../support/apply/lay.ts';
import { compileProgram, compileShim } from '../../../support/compile.ts';
import { runInOwnKernel } from '../../../support/own-kernel.ts';

// Real file systems under a separate kernel, since few machines have all of them in their own.

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-disks-'));
const results = path.join(root, 'results');
const of = (name: string) => JSON.parse(readFileSync(path.join(results, `${name}.json`), 'utf8'));
const MODULES = ['loop', 'vfat', 'nls_cp437', 'nls_iso8859-1', 'overlay', 'quota_v2', 'nfsd', 'nfsv4'];

beforeAll(async () => {
  mkdirSync(results);
  const shim = path.join(root, 'shim.so');
  compileShim(shim);
  const program = await compileProgram(path.resolve(import.meta.dirname, '../../../support/apply/disks-program.ts'));
  const shown = runInOwnKernel(root, MODULES, `${process.execPath} ${program} ${program} ${shim} ${results}`);
  const errors = path.join(results, 'errors');
  if (existsSync(errors)) throw new Error(`${readFileSync(errors, 'utf8')}\n${shown}`);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const not = (said: Said, verdict: string): Said =>
  Object.fromEntries(Object.entries(said).filter(([, text]) => text !== verdict));

describe.each(['tmpfs', 'ext4', 'vfat', 'jfs', 'overlay', 'nfs'])('%s', (disk) => {
  it('applies each kind of change, renames of letter case included, and undo restores it', () => {
    const { before, said, after, undone, back, times, timesBack } = of(disk).everything;
    // FAT has no links and no modes: only those changes fail.
    const fat = disk === 'vfat';
    expect(not(said, 'applied')).toEqual(fat ? { newlink: 'failed: not permitted' } : {});
    expect(not(undone, 'applied')).toEqual(fat ? { mode: 'same: the host has it already' } : {});
    expect(after['case.txt'].text).toBe('case\n');
    expect([after['Case.txt'], after['Dir/b'], after['dir/b'].text]).toEqual([undefined, undefined, 'B\n']);
    expect(after.merge.text).toBe('ONE\n2\n3\n4\nFIVE\n');
    expect(after['made/new']).toEqual({ kind: 'file', text: 'new\n', mode: fat ? 0o755 : 0o600 });
    expect(back).toEqual(before);
    expect(timesBack).toEqual(times);
  });

  it('has each file old or new after a kill at one of about twenty calls', () => {
    const found = of(disk).kills as { what: string; points: number; wrong: unknown[] }[];
    expect(found.map(({ what, wrong }) => [what, wrong])).toEqual([
      ['apply', []],
      ['undo', []],
    ]);
    for (const { points } of found) expect(points).toBeGreaterThan(5);
  });
});

describe('names that a disk treats as the same', () => {
  const ALIAS = (name: string): string => `conflict: this disk takes ${name} for another name that is there`;

  it.each(['tmpfs', 'ext4', 'overlay'])('%s: none of them is applied', (disk) => {
    const git = 'blocked: never written: it is in a .git';
    expect(not(of(disk).names.said, 'applied')).toEqual({ '.GIT': git, '.GIT/config': git });
  });

  it.each(['vfat', 'jfs'])('%s: nothing is written through another case of a name', (disk) => {
    const { said, after } = of(disk).names;
    expect(said).toMatchObject({
      HERE: ALIAS('HERE'),
      '.GitHub': ALIAS('.GitHub'),
      '.GitHub/x.yml': ALIAS('.GitHub'),
      Twin: 'applied',
      twin: 'conflict: this disk takes it and Twin for one name',
    });
    expect(Object.keys(after).filter((name) => name.startsWith('.git'))).toEqual(['.github', '.github/keep']);
    expect([after.here.text, after.Twin.text]).toEqual(['here\n', 'one\n']);
  });

  it('vfat: nothing is written through a short name', () => {
    expect(of('vfat').names.said).toMatchObject({ 'GITHUB~1': ALIAS('GITHUB~1'), 'GITHUB~1/w.yml': ALIAS('GITHUB~1') });
  });
});

describe('a full disk or an exhausted quota', () => {
  it.each(['disk', 'person'])('%s: apply and undo change all or nothing, and give the reason', (which) => {
    const found = of('full')[which] as {
      failed?: string;
      whole: boolean;
      left: boolean;
      again: Said;
      undone: Said;
      back: boolean;
    }[];
    for (const one of found)
      expect([one.failed === undefined, one.left, one.back], JSON.stringify(one)).toEqual([one.whole, true, true]);
    const failed = found.filter((one) => one.failed !== undefined);
    expect([failed.length > 0, failed.length < found.length]).toEqual([true, true]);
    const reason = which === 'person' ? /quota/ : /space/;
    for (const one of failed) expect(one.failed).toMatch(reason);
  });
});

it('a disk that becomes read-only during an apply: changes already made can be undone, the rest stays pending', () => {
  const { readOnly, never } = of('others');
  const reason = 'failed: the file system is read-only';
  expect(readOnly.said).toMatchObject({ f0: 'applied', f2: 'applied', f3: reason, f7: reason });
  expect([readOnly.second.f0, readOnly.second.f3]).toEqual(['same: the host has it already', 'applied']);
  expect(readOnly.backs).toBe(true);
  expect(never.said).toEqual({ a: reason, b: reason });
});

it('FAT renumbers its folders at each mount: an earlier session can still be applied and undone', () => {
  const { same, said, undone, now } = of('others').numbered;
  expect([same, said, undone, now.a.text]).toEqual([false, { a: 'applied' }, { a: 'applied' }, 'a']);
});

describe('NFS', () => {
  it('gives the lock to one of two clients', () => {
    const { second, after, left, order } = of('nfs').lock;
    expect([second, after, left, order]).toEqual([
      expect.stringContaining('is held by'),
      'taken',
      [],
      ['first in', 'first out'],
    ]);
  });

  it('disconnects during an apply: each file is old or new, and a later apply does the rest', () => {
    const { said, during, after, backs } = of('nfs').gone;
    expect(Object.values(said as Said).filter((text) => text !== 'applied').length).toBeGreaterThan(0);
    // The temporary files next to the targets could not be removed either: the next command removed them.
    const files = Object.entries(during as Record<string, { text: string }>).filter(
      ([name]) => !name.startsWith('.rc-'),
    );
    for (const [name, { text }] of files) expect([`old ${name.slice(1)}\n`, `new ${name.slice(1)}\n`]).toContain(text);
    expect(Object.values(after as Record<string, { text: string }>).every(({ text }) => text.startsWith('new'))).toBe(
      true,
    );
    expect(backs).toBe(true);
  });
});
