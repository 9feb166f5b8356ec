import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openContentStore } from '../../../../src/core/store/content.ts';
import { recoverApply } from '../../../../src/review/apply/recover.ts';
import { adopt, layScene, sorted } from '../../../support/apply/crash-scene.ts';
import { type Loss, PowerCut } from '../../../support/apply/power-cut.ts';
import { readTree } from '../../../support/apply/tree.ts';
import { compileProgram, compileShim } from '../../../support/compile.ts';

const root = mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'run-claude-cut-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const LOSSES: readonly Loss[] = ['everything', 'content', 'names'];

/** Recovers the state that a power cut left. Returns the files of the project then, or why recovery is not possible. */
async function recovered(scene: Awaited<ReturnType<typeof layScene>>): Promise<unknown> {
  adopt(scene);
  const store = openContentStore(path.join(scene.sessionDir, 'store'));
  const { project, sessionDir } = scene;
  await recoverApply({ project, sessionDir, store, tell: () => undefined });
  return sorted(readTree(project));
}

it.each([
  { action: 'apply', more: 0, every: 1 },
  { action: 'undo', more: 0, every: 1 },
  // A batch large enough that one syncfs(2) replaces the fsync of each file.
  { action: 'apply', more: 120, every: 23 },
  { action: 'undo', more: 120, every: 23 },
])(
  'a power cut at any call of $action that loses everything without fsync leaves each file old or new after recovery ($more additional files)',
  async ({ action, more, every }) => {
    const shim = path.join(root, 'log.so');
    compileShim(shim, 'log.c');
    const program = await compileProgram(path.resolve(import.meta.dirname, '../../../support/apply/crash-program.ts'));
    const scene = await layScene(root, `${action}-${more}`, false, more);
    if (action === 'undo') expect(spawnSync(process.execPath, [program, scene.request, 'apply']).status).toBe(0);
    const before = sorted(readTree(scene.project));
    const disk = new PowerCut(scene.folder);
    const naive = new PowerCut(scene.folder);
    const [log, start] = [path.join(root, 'log'), path.join(root, 'start')];
    writeFileSync(log, '');
    const env = {
      PATH: process.env['PATH'] ?? '',
      LD_PRELOAD: shim,
      UV_USE_IO_URING: '0',
      SHIM_LOG: log,
      SHIM_START: start,
      SHIM_SCENE: scene.folder,
    };
    const result = spawnSync(process.execPath, [program, scene.request, action], { env, encoding: 'utf8' });
    expect([result.status, result.stderr]).toEqual([0, '']);
    const after = sorted(readTree(scene.project));
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
    const syncs = lines.filter((line) => line.startsWith('sync'));
    expect(syncs.length).toBeGreaterThan(10);
    expect(syncs.some((line) => line.startsWith('syncfs'))).toBe(more > 0);

    const seen = new Set<string>();
    for (const [at, line] of lines.entries()) {
      disk.do(line);
      if (at % every !== 0) continue;
      for (const loss of LOSSES) {
        const left = disk.signature(loss);
        if (seen.has(left)) continue;
        seen.add(left);
        rmSync(scene.folder, { recursive: true, force: true });
        disk.write(scene.folder, loss);
        expect([before, after], `cut after ${at} (${line.slice(0, 150)}), lost: ${loss}`).toContainEqual(
          await recovered(scene),
        );
      }
    }

    expect(seen.size).toBeGreaterThan(lines.length / every / 2);

    // Control: the same calls without fsync leave torn files.
    for (const line of lines)
      if (!line.startsWith('syncfs') && !(line.startsWith('sync') && line.includes('.rc-'))) naive.do(line);
    rmSync(scene.folder, { recursive: true, force: true });
    naive.write(scene.folder, 'content');
    expect([before, after]).not.toContainEqual(await recovered(scene));
  },
);
