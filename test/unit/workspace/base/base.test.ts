import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EVERYTHING, selectPaths } from '../../../../src/core/text/selection.ts';
import type { SessionEvent } from '../../../../src/core/types/event.ts';
import type { BaseGeneration } from '../../../../src/workspace/base/base.ts';
import type { BaseOptions } from '../../../../src/workspace/base/base-options.ts';
import { releaseRef } from '../../../../src/workspace/base/generations/generation-refs.ts';
import { beginPrescan } from '../../../../src/workspace/base/prescan.ts';
import { seed } from '../../../support/seed.ts';
import { treeFacts } from '../../../support/tree-facts.ts';
import { applyEdit, edit } from '../../../support/workspace/host-edits.ts';
import { refresh } from '../../../support/workspace/refresh-scene.ts';

let dir: string;
let project: string;
let told: SessionEvent[];

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-base-'));
  project = path.join(dir, 'project');
  mkdirSync(project);
  told = [];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const prepare = (id: string, more: Partial<BaseOptions> = {}): Promise<BaseGeneration> =>
  refresh(dir, id, { tell: (event) => told.push(event), ...more });

const put = (name: string, content: string | Uint8Array = name): void => {
  mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
  writeFileSync(path.join(project, name), content);
};
const treeOf = (base: BaseGeneration): string => path.join(base.dir, 'tree');

describe('the base', () => {
  it('of an empty project has its mode and time', async () => {
    chmodSync(project, 0o750);
    utimesSync(project, 1e9, 1.1e9);
    const made = statSync(treeOf(await prepare('one')));
    expect([made.mode & 0o7777, made.mtimeMs]).toEqual([0o750, 1.1e12]);
  });

  it('equals odd trees of real projects, and names what cannot be copied', async () => {
    put('src/empty', '');
    put('.env', 'SECRET=1');
    symlinkSync('/usr/bin/python3', path.join(project, 'absolute'));
    symlinkSync('nowhere', path.join(project, 'broken'));
    for (const name of ['a b', 'c\nd', 'e,f:g', '🙂', 'back\\slash']) put(`odd/${name}`);
    writeFileSync(Buffer.concat([Buffer.from(`${project}/odd/`), Buffer.from([0xff, 0xfe, 0x61])]), 'bytes');
    put('hard/one', 'same');
    linkSync(path.join(project, 'hard/one'), path.join(project, 'hard/two'));
    put('sparse', 'x');
    truncateSync(path.join(project, 'sparse'), 1 << 30);
    put('large', Buffer.alloc(300_000, 5));
    put('readonly/in', 'x');
    chmodSync(path.join(project, 'readonly/in'), 0o400);
    chmodSync(path.join(project, 'readonly'), 0o555);
    execFileSync('mkfifo', [path.join(project, 'pipe')]);
    utimesSync(path.join(project, 'src'), 1e9, 1.1e9);
    utimesSync(project, 1e9, 1.2e9);
    const base = await prepare('one');
    const left = base.leftOut.map((problem) => `${problem.path}: ${problem.why}`);
    expect(left).toEqual(['pipe: a FIFO']);
    rmSync(path.join(project, 'pipe'));
    utimesSync(project, 1e9, 1.2e9);
    const facts = treeFacts(treeOf(base));
    const wanted = treeFacts(project);
    wanted.delete('.');
    facts.delete('.');
    expect(facts).toEqual(wanted);
    expect(statSync(path.join(treeOf(base), 'hard/one')).ino).toBe(statSync(path.join(treeOf(base), 'hard/two')).ino);
    expect(statSync(path.join(treeOf(base), 'sparse')).blocks).toBeLessThan(1000);
    const again = await prepare('two');
    expect(again.dir).toBe(base.dir);
  });

  it('lacks excluded files, and has masked files empty', async () => {
    put('.env', 'SECRET=1');
    put('keys/id', 'PRIVATE');
    put('build/out.o');
    put('build/keep.txt');
    const selection = selectPaths({ exclude: ['build/*', 'keys/'], include: ['build/keep.txt'], mask: ['.env'] });
    const base = await prepare('one', { selection });
    expect([...treeFacts(treeOf(base)).keys()].sort()).toEqual(['.', '.env', 'build', 'build/keep.txt']);
    expect(readFileSync(path.join(treeOf(base), '.env'), 'utf8')).toBe('');
    expect([...base.withheld].sort()).toEqual(['.env', 'build/out.o', 'keys']);
    const all = await prepare('two');
    expect(readFileSync(path.join(treeOf(all), '.env'), 'utf8')).toBe('SECRET=1');
    expect(readFileSync(path.join(treeOf(base), '.env'), 'utf8')).toBe('');
  });

  it('carries a git repository without its secrets', async () => {
    execFileSync('git', ['init', '-q', project]);
    execFileSync('git', ['-C', project, 'remote', 'add', 'origin', 'https://me:TOKEN123@example.org/x.git']);
    execFileSync('git', ['-C', project, 'config', 'core.sshCommand', 'ssh -i /home/me/TOKEN123']);
    put('f', '1');
    execFileSync('git', ['-C', project, 'add', '.']);
    const base = await prepare('one');
    const config = readFileSync(path.join(treeOf(base), '.git/config'), 'utf8');
    expect(config).not.toContain('TOKEN123');
    expect(config).toContain('example.org/x.git');
    expect(base.dropped.join('\n')).toContain('sshcommand');
    expect(execFileSync('git', ['-C', treeOf(base), 'status', '--porcelain'], { encoding: 'utf8' })).toBe('A  f\n');
    const again = await prepare('two');
    expect(again.dir).toBe(base.dir);
  });

  it('names the removed keys of a git configuration at every start', async () => {
    const config = (...words: string[]) => execFileSync('git', ['-C', project, 'config', ...words]);
    execFileSync('git', ['init', '-q', project]);
    execFileSync('git', ['init', '-q', path.join(project, 'inner')]);
    config('core.sshCommand', 'ssh -i key');
    config('http.extraHeader', 'TOKEN');
    execFileSync('git', ['-C', path.join(project, 'inner'), 'config', 'core.editor', 'vi']);
    const both = ['.git/config: core.sshcommand', '.git/config: http.extraheader'];
    expect([...(await prepare('one')).dropped].sort()).toEqual([...both, 'inner/.git/config: core.editor']);
    config('--unset', 'core.sshCommand');
    put('f');
    expect([...(await prepare('two')).dropped].sort()).toEqual([both[1], 'inner/.git/config: core.editor']);
    rmSync(path.join(project, 'inner'), { recursive: true });
    expect((await prepare('three')).dropped).toEqual([both[1]]);
  });

  it('follows any edits of the host, and never changes a generation in use', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 4, maxLength: 12 }), fc.boolean(), async (edits, inUse) => {
        applyEdit(project, { what: 'write', a: 'keep/a', b: '' });
        const first = await prepare('first');
        const before = treeFacts(treeOf(first));
        if (!inUse) releaseRef(path.join(dir, 'base'), 'first');
        for (const one of edits) applyEdit(project, one);
        const second = await prepare('second');
        expect(treeFacts(treeOf(second))).toEqual(treeFacts(project));
        if (inUse) expect(treeFacts(treeOf(first))).toEqual(before);
        releaseRef(path.join(dir, 'base'), 'first');
        releaseRef(path.join(dir, 'base'), 'second');
      }),
      { numRuns: process.env['RUN_CLAUDE_THOROUGH'] === '1' ? 300 : 20, seed },
    );
  });

  it('follows the mode and the time of the project itself, also during a session', async () => {
    put('f');
    const first = await prepare('one');
    chmodSync(project, 0o711);
    utimesSync(project, 1e9, 1.2e9);
    const second = await prepare('two');
    expect(second.dir).not.toBe(first.dir);
    expect(treeFacts(treeOf(second))).toEqual(treeFacts(project));
    expect(statSync(treeOf(first)).mode & 0o7777).not.toBe(0o711);
    releaseRef(path.join(dir, 'base'), 'two');
    utimesSync(project, 1e9, 1.3e9);
    const third = await prepare('three');
    expect([third.dir, statSync(treeOf(third)).mtimeMs]).toEqual([second.dir, 1.3e12]);
  });

  it('notices an edit that keeps size and time', async () => {
    put('f', 'old!');
    const { atime, mtime } = statSync(path.join(project, 'f'));
    await prepare('one');
    writeFileSync(path.join(project, 'f'), 'new!');
    utimesSync(path.join(project, 'f'), atime, mtime);
    const base = await prepare('two');
    expect(readFileSync(path.join(treeOf(base), 'f'), 'utf8')).toBe('new!');
  });

  it('uses a prescan only while it is fresh and no other session has changed the base since', async () => {
    const selection = EVERYTHING;
    const { signal } = new AbortController();
    const look = () => beginPrescan({ dir: path.join(dir, 'base'), project, grafts: new Map(), selection, signal });
    const seen = async () => {
      const ahead = look();
      const found = await ahead();
      return () => Promise.resolve(found);
    };
    put('f', '1');
    const first = await prepare('one', { prescan: look() });
    expect(treeFacts(treeOf(first))).toEqual(treeFacts(project));
    // A file that was saved while a question waited for its answer.
    const old = await seen();
    const found = await old();
    put('f', '22');
    const late = found && { ...found, ended: found.ended - 60_000 };
    const second = await prepare('two', { prescan: () => Promise.resolve(late) });
    expect(treeFacts(treeOf(second))).toEqual(treeFacts(project));
    // Another session that brings the base up to date in between.
    const overtaken = await seen();
    put('f', '333');
    await prepare('three');
    const third = await prepare('four', { prescan: overtaken });
    expect(treeFacts(treeOf(third))).toEqual(treeFacts(project));
    // Fresh, and nobody came between: it is what counts.
    const fresh = await seen();
    const now = await fresh();
    put('f', '4444');
    const fourth = await prepare('five', { prescan: () => Promise.resolve(now && { ...now, ended: Date.now() }) });
    expect(readFileSync(path.join(treeOf(fourth), 'f'), 'utf8')).toBe('333');
    expect(treeFacts(treeOf(await prepare('six')))).toEqual(treeFacts(project));
  });

  it('is complete again after a refresh that was stopped at any point', async () => {
    for (let i = 0; i < 6; i++) put(`d${i}/f`, `${i}`);
    await prepare('one');
    releaseRef(path.join(dir, 'base'), 'one');
    const gen = path.join(dir, 'base/gen/1');
    // As a kill leaves it: the journal is there, some of what it names is done, half done or not begun.
    put('d0/f', 'changed');
    put('new/deep/f', 'new');
    rmSync(path.join(project, 'd1'), { recursive: true });
    const journal = ['d0/f', 'd1', 'new', 'new/deep', 'new/deep/f'].map((one) => ({ path: one, directory: false }));
    for (let stop = 0; stop < 4; stop++) {
      writeFileSync(path.join(gen, 'journal'), JSON.stringify([...journal, { path: 'd2', directory: true }]));
      if (stop > 0) rmSync(path.join(gen, 'tree/d1'), { recursive: true, force: true });
      if (stop > 1) mkdirSync(path.join(gen, 'tree/new/deep'), { recursive: true });
      if (stop > 1) writeFileSync(path.join(gen, 'tree/new/deep/f'), 'ne');
      if (stop > 2) writeFileSync(path.join(gen, 'tree/d0/f'), '');
      if (stop > 2) chmodSync(path.join(gen, 'tree/d2'), 0o700);
      const base = await prepare(`s${stop}`);
      expect(treeFacts(treeOf(base))).toEqual(treeFacts(project));
      expect(existsSync(path.join(base.dir, 'journal'))).toBe(false);
      releaseRef(path.join(dir, 'base'), `s${stop}`);
    }
  });

  it('is recreated after a killed first copy, after a reboot, or when --verify finds damage', async () => {
    put('f', 'content');
    mkdirSync(path.join(dir, 'base/gen/1/tree'), { recursive: true });
    writeFileSync(path.join(dir, 'base/gen/1/tree/f'), 'con');
    const first = await prepare('one');
    expect(treeFacts(treeOf(first))).toEqual(treeFacts(project));
    const { mtimeMs } = statSync(path.join(treeOf(first), 'f'));
    writeFileSync(path.join(treeOf(first), 'f'), 'CONTENT');
    utimesSync(path.join(treeOf(first), 'f'), mtimeMs / 1000, mtimeMs / 1000);
    expect(treeFacts(treeOf(await prepare('two')))).not.toEqual(treeFacts(project));
    const verified = await prepare('three', { verify: true });
    expect(treeFacts(treeOf(verified))).toEqual(treeFacts(project));
    expect(told.some((event) => event.kind === 'message' && event.text.includes('damaged'))).toBe(true);
    const manifest = path.join(verified.dir, 'manifest');
    const text = readFileSync(manifest, 'latin1').replace(/"bootId":"[^"]*"/, '"bootId":"before"');
    writeFileSync(manifest, text, 'latin1');
    expect((await prepare('four')).dir).not.toBe(verified.dir);
    for (const id of ['one', 'two', 'three', 'four']) rmSync(path.join(dir, 'sessions', id), { recursive: true });
    await prepare('five');
    expect(readdirSync(path.join(dir, 'base/gen'))).toHaveLength(1);
  });
});
