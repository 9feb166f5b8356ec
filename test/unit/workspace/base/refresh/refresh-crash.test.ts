import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { BaseGeneration } from '../../../../../src/workspace/base/base.ts';
import type { BaseOptions } from '../../../../../src/workspace/base/base-options.ts';
import { releaseRef } from '../../../../../src/workspace/base/generations/generation-refs.ts';
import { treesOf } from '../../../../../src/workspace/base/generations/stacked.ts';
import { compileProgram, compileShim } from '../../../../support/compile.ts';
import { treeFacts } from '../../../../support/tree-facts.ts';
import { refresh } from '../../../../support/workspace/refresh-scene.ts';

const root = mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'run-claude-refresh-'));
const shim = path.join(root, 'shim.so');
let program = '';
const OWNER = process.getuid?.() === 0 ? { uid: 48_213, gid: 48_213 } : undefined;

beforeAll(async () => {
  compileShim(shim);
  program = await compileProgram(path.resolve(import.meta.dirname, '../../../../support/workspace/refresh-program.ts'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function layProject(project: string): void {
  for (let i = 0; i < 6; i++) {
    mkdirSync(path.join(project, `d${i}`), { recursive: true });
    writeFileSync(path.join(project, `d${i}/f`), `content ${i}`);
    writeFileSync(path.join(project, `d${i}/same`), 'same');
  }
  linkSync(path.join(project, 'd0/f'), path.join(project, 'd0/hard'));
  giveAway(project);
}

/** What is the test's own becomes the owner's inside, as the base has it: root alone can give. */
function giveAway(project: string): void {
  if (OWNER !== undefined)
    execFileSync('find', [project, '-uid', '0', '-exec', 'chown', '-h', `${OWNER.uid}:${OWNER.gid}`, '{}', '+']);
}

/** One of each: changed, deleted, new below new, another kind, a link, a mode, a second name of an inode. */
function edit(project: string): void {
  const at = (name: string): string => path.join(project, name);
  writeFileSync(at('d0/f'), 'CONTENT 0');
  rmSync(at('d1'), { recursive: true });
  mkdirSync(at('new/deep'), { recursive: true });
  writeFileSync(at('new/deep/f'), 'new');
  rmSync(at('d2/f'));
  mkdirSync(at('d2/f'));
  symlinkSync('f', at('d3/link'));
  chmodSync(at('d4'), 0o700);
  chmodSync(at('d4/f'), 0o755);
  linkSync(at('d5/f'), at('d5/hard'));
  renameSync(at('d5/same'), at('d5/other'));
  giveAway(project);
}

/** What a kill at each call of a refresh leaves of the base, by directory. */
function photographed(dir: string, options: Partial<BaseOptions>): string[] {
  const snapshots = path.join(dir, 'snapshots');
  mkdirSync(snapshots);
  const env = {
    PATH: process.env['PATH'] ?? '',
    LD_PRELOAD: shim,
    UV_USE_IO_URING: '0',
    SHIM_START: path.join(dir, 'start'),
    SHIM_SNAP: snapshots,
    SHIM_SCENE: path.join(dir, 'base'),
  };
  execFileSync(process.execPath, [program, dir, JSON.stringify(options)], { env });
  const count = readdirSync(snapshots).length;
  return Array.from({ length: count }, (_, at) => path.join(snapshots, String(at + 1)));
}

it.each(['no base yet', 'a base', 'a base that a session references'])(
  'after a refresh killed at any call, with %s, the next one equals the project, and generations in use are unchanged',
  async (what) => {
    const dir = mkdtempSync(path.join(root, 'scene-'));
    const [base, project] = [path.join(dir, 'base'), path.join(dir, 'project')];
    layProject(project);
    mkdirSync(base);
    let used: ReadonlyMap<string, string> | undefined;
    if (what !== 'no base yet') await refresh(dir, 'first', { owner: OWNER });
    if (what === 'a base') releaseRef(base, 'first');
    if (what === 'a base that a session references') used = treeFacts(path.join(base, 'gen/1/tree'));
    edit(project);
    const wanted = treeFacts(project);
    const kills = photographed(dir, { owner: OWNER });
    expect(kills.length).toBeGreaterThan(20);
    for (const [at, left] of kills.entries()) {
      rmSync(base, { recursive: true });
      renameSync(left, base);
      const now = await refresh(dir, 'after', { owner: OWNER });
      const where = `call ${at + 1} of ${kills.length}`;
      expect(treeFacts(path.join(now.dir, 'tree')), where).toEqual(wanted);
      expect(existsSync(path.join(now.dir, 'journal')), where).toBe(false);
      if (used !== undefined) expect(treeFacts(path.join(base, 'gen/1/tree')), where).toEqual(used);
    }
  },
);

function mounted<T>(options: string, at: string, use: (at: string) => T): T {
  execFileSync('mount', ['-t', 'overlay', '-o', options, 'overlay', at]);
  try {
    return use(at);
  } finally {
    execFileSync('umount', [at]);
  }
}

/** A generation as a session sees it: what is stacked is joined by the kernel. */
function factsOf(base: BaseGeneration): Map<string, string> {
  const trees = treesOf(base.dir);
  if (trees.length === 1) return treeFacts(trees[0] as string);
  return mounted(`lowerdir=${trees.join(':')}`, mkdtempSync(path.join(root, 'joined-')), treeFacts);
}

it('after a start killed at any call, with an unreferenced stacked generation, the next one equals the project', async () => {
  const dir = mkdtempSync(path.join(root, 'scene-'));
  const [base, project] = [path.join(dir, 'base'), path.join(dir, 'project')];
  const stacked = { stack: true, owner: OWNER };
  layProject(project);
  await refresh(dir, 'first', stacked);
  edit(project);
  const time = new Date(1e12);
  utimesSync(project, time, time);
  expect(treesOf((await refresh(dir, 'second', stacked)).dir)).toHaveLength(2);
  releaseRef(base, 'second');
  const [wanted, used] = [treeFacts(project), treeFacts(path.join(base, 'gen/1/tree'))];
  // Deleted again before the next start, which sees the list of the generation that was being removed.
  writeFileSync(path.join(project, 'passing'), '');
  const kills = photographed(dir, stacked);
  rmSync(path.join(project, 'passing'));
  utimesSync(project, time, time);
  for (const [at, left] of kills.entries()) {
    rmSync(base, { recursive: true });
    renameSync(left, base);
    const where = `call ${at + 1} of ${kills.length}`;
    expect(factsOf(await refresh(dir, 'after', stacked)), where).toEqual(wanted);
    expect(treeFacts(path.join(base, 'gen/1/tree')), where).toEqual(used);
  }
});

it('a generation that is removed in place, on an overlay disk, counts as removed from the first call on', async () => {
  const dir = mkdtempSync(path.join(root, 'scene-'));
  const [below = '', upper = '', work = ''] = ['below', 'upper', 'work'].map((name) => path.join(dir, name));
  const [base, project] = [path.join(dir, 'base'), path.join(dir, 'project')];
  const whole = { owner: OWNER };
  layProject(project);
  await refresh(dir, 'first', whole);
  edit(project);
  await refresh(dir, 'second', whole);
  releaseRef(base, 'first');
  const [wanted, first] = [treeFacts(project), treeFacts(path.join(base, 'gen/1/tree'))];
  renameSync(base, below);
  for (const one of [base, upper, work]) mkdirSync(one);
  const disk = `lowerdir=${below},upperdir=${upper},workdir=${work},redirect_dir=off`;
  const kills = mounted(disk, base, () => photographed(dir, whole));
  const started = (left: string): boolean => readdirSync(path.join(left, 'gen')).includes('1');
  expect(kills.filter(started).length).toBeGreaterThan(20);
  for (const [at, left] of kills.entries()) {
    const where = `call ${at + 1} of ${kills.length}`;
    if (existsSync(path.join(left, 'gen/1/manifest')))
      expect(treeFacts(path.join(left, 'gen/1/tree')), where).toEqual(first);
    rmSync(base, { recursive: true });
    renameSync(left, base);
    expect(treeFacts(path.join((await refresh(dir, 'after', whole)).dir, 'tree')), where).toEqual(wanted);
  }
});
