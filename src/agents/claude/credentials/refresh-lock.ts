import { mkdir, realpath, rmdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RunClaudeError } from '../../../core/errors.ts';
import { makePrivateDir } from '../../../core/store/record.ts';

// Claude Code 2.1.329 guards its own refresh with two lock directories: `.oauth_refresh.lock` in the configuration
// directory, then `<configuration directory>.lock`. A holder touches them every 5 s; untouched for 60 s they are stale.
// run-claude takes the same two, so that it and Claude on the host never spend one refresh token twice.
const TOUCH_MS = 5_000;
const STALE_MS = 60_000;

/**
 * Runs `work` while holding the lock for refreshing the tokens of a configuration directory.
 *
 * @throws {RunClaudeError} CREDENTIAL_LOCKED when another process holds it for longer than `waitMs`
 */
export async function withRefreshLock<T>(configDir: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  const directory = await realpath(configDir).catch(() => configDir);
  makePrivateDir(directory);
  const deadline = Date.now() + waitMs;
  const held: string[] = [];
  const touch = setInterval(() => {
    const now = new Date();
    // Another process may have removed the lock as stale. The write that follows fails then, not this timer.
    for (const path of held) utimes(path, now, now).catch(() => undefined);
  }, TOUCH_MS);
  try {
    for (const path of [join(directory, '.oauth_refresh.lock'), `${directory}.lock`]) {
      await take(path, deadline);
      held.push(path);
    }
    return await work();
  } finally {
    clearInterval(touch);
    for (const path of held.reverse()) await rmdir(path).catch(() => undefined);
  }
}

async function take(path: string, deadline: number): Promise<void> {
  for (;;) {
    const error = await mkdir(path).then(
      () => undefined,
      (failure: NodeJS.ErrnoException) => failure,
    );
    if (error === undefined) return;
    if (error.code !== 'EEXIST') throw error;
    const since = (await stat(path).catch(() => undefined))?.mtimeMs;
    if (since === undefined) continue;
    if (Date.now() - since > STALE_MS) {
      await rmdir(path).catch(() => undefined);
      continue;
    }
    if (Date.now() > deadline)
      throw new RunClaudeError('CREDENTIAL_LOCKED', 'another process is refreshing the Claude login', {
        hint: `Wait a moment and try again. When no Claude is running, remove the directory ${path}.`,
      });
    await sleep(100 + Math.random() * 100);
  }
}
