import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { mainJs } from '../../../support/scene.ts';

test('a configuration file that is a FIFO is reported, and no command waits for it', () => {
  const home = mkdtempSync(path.join(tmpdir(), 'run-claude-fifo-'));
  try {
    mkdirSync(path.join(home, '.config/run-claude'), { recursive: true });
    execFileSync('mkfifo', [path.join(home, '.config/run-claude/config.toml')]);
    const run = (...words: readonly string[]) =>
      spawnSync(process.execPath, [mainJs, ...words], {
        env: { PATH: process.env['PATH'], HOME: home },
        cwd: home,
        encoding: 'utf8',
        // Opening a FIFO ends at no other signal.
        killSignal: 'SIGKILL',
        timeout: 60_000,
      });
    expect(run('version').status).toBe(0);
    const { status, stderr } = run('config', 'set', 'cpus', '2');
    expect([status, stderr]).toEqual([2, expect.stringContaining('config.toml is not a regular file')]);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
