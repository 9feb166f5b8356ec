import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { BaseOptions } from '../../../../src/workspace/base/base-options.ts';
import { compileProgram, compileShim } from '../../../support/compile.ts';
import { treeFacts } from '../../../support/tree-facts.ts';
import { refresh } from '../../../support/workspace/refresh-scene.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-clone-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const OWNER = process.getuid?.() === 0 ? { uid: 48_213, gid: 48_213 } : undefined;

it('symbolic links stay links in every generation where link(2) follows them, as on macOS', async () => {
  const [shim, project, outside] = [path.join(dir, 'shim.so'), path.join(dir, 'project'), path.join(dir, 'outside')];
  compileShim(shim, 'follow-link.c');
  const program = await compileProgram(
    path.resolve(import.meta.dirname, '../../../support/workspace/refresh-program.ts'),
  );
  mkdirSync(path.join(project, 'folder/in'), { recursive: true });
  writeFileSync(path.join(project, 'folder/in/f'), 'content');
  linkSync(path.join(project, 'folder/in/f'), path.join(project, 'hard'));
  writeFileSync(outside, 'SECRET');
  const targets: ReadonlyArray<readonly [string, string]> = [
    ['to-folder', 'folder'],
    ['to-file', 'folder/in/f'],
    ['dangling', 'nowhere'],
    ['to-outside', outside],
    ['folder/to-parent', '..'],
    ['to-itself', 'to-itself'],
  ];
  for (const [name, target] of targets) symlinkSync(target, path.join(project, name));
  const bytes = Buffer.from([0xff, 0x61]);
  symlinkSync(bytes, Buffer.concat([Buffer.from(`${project}/`), bytes]));
  execFileSync('find', [project, '-type', 'l', '-exec', 'touch', '-h', '-d', '2001-02-03 04:05:06.789', '{}', '+']);
  if (OWNER !== undefined) execFileSync('chown', ['-hR', `${OWNER.uid}:${OWNER.gid}`, project]);

  const env = { PATH: process.env['PATH'] ?? '', UV_USE_IO_URING: '0', SHIM_START: path.join(dir, 'start') };
  // A session uses the first generation: the next one is a clone of it.
  const first = await refresh(dir, 'first', { owner: OWNER });
  const kept = treeFacts(path.join(first.dir, 'tree'));
  writeFileSync(path.join(project, 'new'), 'new');
  if (OWNER !== undefined) execFileSync('chown', ['-h', `${OWNER.uid}:${OWNER.gid}`, path.join(project, 'new')]);
  const more: Partial<BaseOptions> = OWNER === undefined ? {} : { owner: OWNER };
  execFileSync(process.execPath, [program, dir, JSON.stringify(more)], { env: { ...env, LD_PRELOAD: shim } });

  const clone = path.join(dir, 'base/gen/2/tree');
  expect(existsSync(clone)).toBe(true);
  expect(treeFacts(clone)).toEqual(treeFacts(project));
  expect(readlinkSync(path.join(clone, 'to-outside'))).toBe(outside);
  expect(lstatSync(path.join(clone, 'dangling')).mtimeMs).toBeCloseTo(
    lstatSync(path.join(project, 'dangling')).mtimeMs,
    -1,
  );
  expect(treeFacts(path.join(first.dir, 'tree'))).toEqual(kept);
  // The clone counts as unchanged, in the comparison of every entry too.
  const told: string[] = [];
  const tell: BaseOptions['tell'] = (event) => told.push(JSON.stringify(event));
  const again = await refresh(dir, 'again', { owner: OWNER, verify: true, tell });
  expect(again.dir).toBe(path.join(dir, 'base/gen/2'));
  expect(told.join('\n')).not.toContain('damaged');
});
