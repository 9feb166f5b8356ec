import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { compileProgram, compileShim } from '../../support/compile.ts';
import { darwinPrograms } from '../../support/darwin/programs.ts';

const DARWIN = 'data:text/javascript,Object.defineProperty(process,"platform",{value:"darwin"})';

it('what a session does on the host works as on macOS: link(2) follows links, no /proc, its own ps and sync', async () => {
  const root = mkdtempSync(join(tmpdir(), 'rc-darwin-whole-'));
  using programs = darwinPrograms();
  const [shim, work, result] = [join(root, 'shim.so'), join(root, 'work'), join(root, 'result')];
  mkdirSync(work);
  compileShim(shim, 'follow-link.c');
  const program = await compileProgram(resolve(import.meta.dirname, '../../support/darwin/darwin-program.ts'));
  const inside = ['--mount', '--propagation', 'private', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])];
  const covered = 'mount -t tmpfs none /proc && exec env LD_PRELOAD="$0" "$@"';
  const node = [process.execPath, '--import', DARWIN, program, work, result];
  try {
    execFileSync('unshare', [...inside, 'sh', '-c', covered, shim, ...node], {
      env: { PATH: `${programs.bin}:${process.env['PATH']}`, HOME: work, UV_USE_IO_URING: '0' },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    expect(JSON.parse(readFileSync(result, 'utf8'))).toEqual({
      platform: 'darwin',
      hasProc: false,
      generations: { links: ['folder/f', 'nowhere'], isNew: true },
      applyAndUndo: {
        verdicts: ['applied'],
        applied: ['case', 'made', 'made/in', 'mode', 'plain', 'to'],
        isUndone: true,
      },
      lock: { second: 'refused', owner: 'alive' },
      git: 0,
      isRemoved: true,
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
