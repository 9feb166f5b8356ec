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
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { releaseUser } from '../../../src/workspace/users.ts';
import { compileProgram, compileShim } from '../../compile.ts';
import { treeFacts } from '../../tree-facts.ts';
import { refresh } from '../../workspace/refresh-scene.ts';

const root = mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'run-claude-refresh-'));
const shim = path.join(root, 'shim.so');
let program = '';

beforeAll(async () => {
  compileShim(shim);
  program = await compileProgram(path.resolve(import.meta.dirname, '../../workspace/refresh-program.ts'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function layProject(project: string): void {
  for (let i = 0; i < 6; i++) {
    mkdirSync(path.join(project, `d${i}`), { recursive: true });
    writeFileSync(path.join(project, `d${i}/f`), `content ${i}`);
    writeFileSync(path.join(project, `d${i}/same`), 'same');
  }
  linkSync(path.join(project, 'd0/f'), path.join(project, 'd0/hard'));
}

/** One of each: changed, gone, new below new, another kind, a link, a mode, a name that is one more of an inode. */
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
}

/** What a kill at each call of a refresh leaves of the base, by directory. */
function photographed(dir: string): string[] {
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
  execFileSync(process.execPath, [program, dir], { env });
  const count = readdirSync(snapshots).length;
  return Array.from({ length: count }, (_, at) => path.join(snapshots, String(at + 1)));
}

it.each(['no base yet', 'a base', 'a base that a session stands on'])(
  'a refresh killed at any call, with %s: the next one equals the project, what is in use is as it was',
  async (what) => {
    const dir = mkdtempSync(path.join(root, 'scene-'));
    const [base, project] = [path.join(dir, 'base'), path.join(dir, 'project')];
    layProject(project);
    mkdirSync(base);
    let used: ReadonlyMap<string, string> | undefined;
    if (what !== 'no base yet') await refresh(dir, 'first');
    if (what === 'a base') releaseUser(base, 'first');
    if (what === 'a base that a session stands on') used = treeFacts(path.join(base, 'gen/1/tree'));
    edit(project);
    const wanted = treeFacts(project);
    const kills = photographed(dir);
    expect(kills.length).toBeGreaterThan(20);
    for (const [at, left] of kills.entries()) {
      rmSync(base, { recursive: true });
      renameSync(left, base);
      const now = await refresh(dir, 'after');
      const where = `call ${at + 1} of ${kills.length}`;
      expect(treeFacts(path.join(now.dir, 'tree')), where).toEqual(wanted);
      expect(existsSync(path.join(now.dir, 'journal')), where).toBe(false);
      if (used !== undefined) expect(treeFacts(path.join(base, 'gen/1/tree')), where).toEqual(used);
    }
  },
);
