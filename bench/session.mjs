import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { main } from './scene.mjs';

/** Minimum lifetime of an agent: when it ends, the gateway runs and the audit is prepared, as in a real session. */
const LIVES_S = 6;

/** @typedef {{ start: number, exit: number, peakMb: number }} Timed milliseconds, and the command's peak memory */

/**
 * One session of the real command: on a copy by a strategy, or in bind mode (`bind`). Its script prints when the agent began and ended, so that start and exit are separate.
 * @param {{ project: string, env: NodeJS.ProcessEnv }} scene @param {string} script @param {string} [strategy]
 * @returns {Promise<Timed>}
 */
export function session(scene, script, strategy = 'auto') {
  const mode = strategy === 'bind' ? '--bind' : `--copy-workspace=${strategy}`;
  const words = ['exec', '--yes', '--credentials=none', mode, scene.project, '--'];
  const stamped = `date +%s%N; ${script}\nsleep ${LIVES_S}; date +%s%N`;
  return new Promise((resolve, reject) => {
    const began = Date.now();
    const child = spawn(process.execPath, [main, ...words, 'sh', '-c', stamped], {
      cwd: scene.project,
      env: scene.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [out, err, peakKb] = ['', '', 0];
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    const poll = setInterval(() => {
      const file = `/proc/${child.pid}/status`;
      const line = existsSync(file) ? /VmHWM:\s+(\d+)/.exec(readFileSync(file, 'utf8')) : undefined;
      peakKb = Math.max(peakKb, Number(line?.[1] ?? 0));
    }, 100);
    child.on('close', (status) => {
      clearInterval(poll);
      const [first = Number.NaN, last = Number.NaN] = out
        .trim()
        .split('\n')
        .map((line) => Number(line) / 1e6);
      // 120: changes are pending.
      if (status !== 0 && status !== 120) reject(new Error(`a session ended with ${status}:\n${err}`));
      else resolve({ start: first - began, exit: Date.now() - last, peakMb: peakKb / 1024 });
    });
  });
}

/** @param {number[]} values */
export function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/**
 * Medians over several sessions.
 * @param {number} rounds @param {(round: number) => Promise<Timed>} run @returns {Promise<Timed>}
 */
export async function sessions(rounds, run) {
  /** @type {Timed[]} */
  const all = [];
  for (let round = 0; round < rounds; round += 1) all.push(await run(round));
  /** @param {keyof Timed} key */
  const of = (key) => median(all.map((one) => one[key]));
  return { start: of('start'), exit: of('exit'), peakMb: of('peakMb') };
}
