// node bench/preview.mjs: the first byte of a page of a session, next to the same server behind a port that the engine
// publishes. Medians of RUN_CLAUDE_BENCH_ROUNDS (101) requests, one of each kind in turn, each on its own connection.
// The plain server runs in the session's image. Needs an engine.
import { execFileSync, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { request } from 'node:http';
import { main, smallProject } from './scene.mjs';
import { median } from './session.mjs';

const ROUNDS = Number(process.env['RUN_CLAUDE_BENCH_ROUNDS'] ?? 101);
const SERVER = `require('node:http').createServer((q, a) => a.end('page')).listen(3000, process.argv[1])`;
const NODE = '/opt/node/package/bin/node';

const { dir, project, env } = smallProject();
/** @param {string[]} words */
const ours = (words) =>
  execFileSync(process.execPath, [main, ...words], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
/** @param {string[]} words */
const docker = (...words) => execFileSync('docker', words, { encoding: 'utf8' }).trim();

/** Milliseconds to the first byte. @param {number} port @param {Record<string, string>} headers @returns {Promise<number>} */
function firstByte(port, headers) {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, headers, agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
      response.once('data', () => resolve(performance.now() - start));
      response.resume();
    });
    asked.once('error', reject);
    asked.end();
  });
}

/** @param {() => Promise<unknown>} step */
async function untilReady(step) {
  for (let tries = 0; ; tries += 1) {
    try {
      return await step();
    } catch (error) {
      if (tries > 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

const id = ours(['up', '--yes', '--credentials=none', project]).trim();
const image = docker('inspect', '--format', '{{.Config.Image}}', `run-claude-${id}`);
const plain = docker(
  'run',
  '-d',
  '--rm',
  '-p',
  '127.0.0.1::3000',
  '--entrypoint',
  NODE,
  image,
  '-e',
  SERVER,
  '0.0.0.0',
);
const inside = spawn(process.execPath, [main, 'exec', '--session', id, '--', NODE, '-e', SERVER, '127.0.0.1'], {
  env,
  stdio: 'ignore',
});
try {
  const [page] = JSON.parse(ours(['ports', id, '3000', '--json']));
  const { host, searchParams } = new URL(page.url);
  const own = { Host: host, Cookie: `run-claude-token=${searchParams.get('run-claude-token')}` };
  const published = Number(docker('port', plain, '3000').split('\n')[0]?.split(':').at(-1));
  /** @type {Record<string, { step: () => Promise<number>, all: number[] }>} */
  const kinds = {
    'port that the engine publishes': { step: () => firstByte(published, {}), all: [] },
    'page of a session': { step: () => firstByte(page.hostPort, own), all: [] },
  };
  for (const { step } of Object.values(kinds)) await untilReady(step);
  for (let round = 0; round < ROUNDS; round += 1)
    for (const { step, all } of Object.values(kinds)) all.push(await step());
  for (const [name, { all }] of Object.entries(kinds))
    console.log(`${name.padEnd(32)} median ${median(all).toFixed(1)} ms, fastest ${Math.min(...all).toFixed(1)} ms`);
} finally {
  inside.kill('SIGKILL');
  docker('rm', '-f', plain);
  ours(['stop', id]);
  rmSync(dir, { recursive: true, force: true });
}
