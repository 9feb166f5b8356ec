import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { encodeFrame } from '../../../../src/review/judging/frames.ts';

const JUDGE = fileURLToPath(new URL('./judge-worker.cjs', import.meta.url));
/** Starts a judge with the pipes of this test, so that no end of them tells that the starter was killed. */
const STARTER = `const { spawn } = require('node:child_process');
const judge = spawn(process.execPath, [${JSON.stringify(JUDGE)}], { stdio: 'inherit', detached: true });
process.stderr.write(String(judge.pid));
setInterval(() => undefined, 1000);`;

/** Whether a process runs: one that ended and was not collected does not. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

it('ends with the process that started it, also while it works and its pipes are open', async () => {
  const starter: ChildProcess = spawn(process.execPath, ['-e', STARTER], { stdio: ['pipe', 'pipe', 'pipe'] });
  const [pid] = (await once(starter.stderr as NodeJS.ReadableStream, 'data')) as [Buffer];
  const judge = Number(String(pid));
  await once(starter.stdout as NodeJS.ReadableStream, 'data');
  for (const message of [
    { kind: 'open', source: { kind: 'asked', hasBase: false } },
    { kind: 'warm', sliceMs: 60_000 },
  ] as const)
    starter.stdin?.write(encodeFrame(message as never));
  expect(isRunning(judge)).toBe(true);
  starter.kill('SIGKILL');
  await expect.poll(() => isRunning(judge), { interval: 50 }).toBe(false);
});
