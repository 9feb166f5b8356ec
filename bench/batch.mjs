// node bench/batch.mjs: what the queue of `batch` adds to a session. RUN_CLAUDE_BENCH_TASKS (50) tasks of `claude -p` with
// a stand-in for the provider: first one by one, each its own command, then as one batch with --jobs 1, then with
// RUN_CLAUDE_BENCH_JOBS (2) at a time. All in one project, with the image and the project's base there. Needs an engine.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { main, smallProject } from './scene.mjs';
import { median } from './session.mjs';

const TASKS = Number(process.env['RUN_CLAUDE_BENCH_TASKS'] ?? 50);
const JOBS = Number(process.env['RUN_CLAUDE_BENCH_JOBS'] ?? 2);

const standIn = path.join(path.dirname(import.meta.dirname), 'test/support/stand-in/messages-api.mjs');
// It ends with its standard input.
const api = spawn(process.execPath, [standIn], { stdio: ['pipe', 'pipe', 'inherit'] });
const url = String((await once(api.stdout, 'data'))[0]).trim();
const { dir, project, env } = smallProject();
Object.assign(env, { HOME: dir, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'sk-ant-api03-of-the-bench' });

/** @param {string[]} words @returns {Promise<{ ms: number, stdout: string }>} */
function timed(words) {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const child = spawn(process.execPath, [main, ...words], { cwd: project, env, stdio: ['ignore', 'pipe', 'ignore'] });
    let stdout = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.on('error', reject);
    child.on('close', (status) => {
      if (status === 0) resolve({ ms: performance.now() - start, stdout });
      else reject(new Error(`run-claude ${words.join(' ')} ended with ${status}`));
    });
  });
}

/** One run of a separate file, so that every task is new. @param {number} jobs */
async function batch(jobs) {
  const file = path.join(dir, `tasks-${jobs}`);
  writeFileSync(file, Array.from({ length: TASKS }, (_, at) => `task ${at} of ${jobs}`).join('\n'));
  const { ms, stdout } = await timed(['batch', '--json', '--jobs', String(jobs), file]);
  const each = JSON.parse(stdout).map((/** @type {{ ms: number }} */ task) => task.ms);
  return { ms, sum: each.reduce((/** @type {number} */ all, /** @type {number} */ one) => all + one, 0), each };
}

/** @param {number} ms */
const perTask = (ms) => `${(ms / TASKS).toFixed(0)} ms a task`;

try {
  await timed(['--yes', '-p', 'warm up']);
  /** @type {number[]} */
  const alone = [];
  for (let at = 0; at < TASKS; at += 1) alone.push((await timed(['--yes', '-p', `task ${at} alone`])).ms);
  const total = alone.reduce((sum, one) => sum + one, 0);
  console.log(`one by one:        ${perTask(total)}, median ${median(alone).toFixed(0)} ms`);
  for (const jobs of new Set([1, JOBS])) {
    const { ms, sum, each } = await batch(jobs);
    const own = jobs === 1 ? `, outside of the sessions ${((ms - sum) / TASKS).toFixed(1)} ms a task` : '';
    const ratio = (ms / total).toFixed(2);
    console.log(
      `batch --jobs ${jobs}:    ${perTask(ms)}, median ${median(each).toFixed(0)} ms${own}, ${ratio} of one by one`,
    );
  }
} finally {
  api.stdin.end();
  rmSync(dir, { recursive: true, force: true });
}
