// node bench/services.mjs: how long a session with Postgres and Redis takes to start, next to `docker run` of the same two
// images and commands, and what memory each service has. Medians of RUN_CLAUDE_BENCH_ROUNDS (5), one of each kind in
// turn. Both wait until Postgres accepts queries and Redis answers a ping. Needs an engine.
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { loadSource } from './load-source.mjs';
import { main, smallProject } from './scene.mjs';
import { median } from './session.mjs';

const ROUNDS = Number(process.env['RUN_CLAUDE_BENCH_ROUNDS'] ?? 5);
const [{ SERVICE_KINDS }] = await loadSource('core/config/tables/service-kinds.ts');
const SERVICES = [
  { name: 'db', kind: 'postgresql' },
  { name: 'cache', kind: 'redis-server' },
];
const run = promisify(execFile);

const { dir, project, env } = smallProject();
const config = path.join(dir, 'config/run-claude');
mkdirSync(config, { recursive: true });
const withServices = { ...env, XDG_CONFIG_HOME: path.join(dir, 'config') };
const tables = SERVICES.map(({ name, kind }) => `[[service]]\nname = "${name}"\npackages = ["${kind}"]\n`);
writeFileSync(path.join(config, 'config.toml'), tables.join('\n'));

/** @param {string[]} words @param {NodeJS.ProcessEnv} more */
const ours = (words, more) =>
  execFileSync(process.execPath, [main, 'exec', '--yes', '--credentials=none', ...words], {
    cwd: project,
    env: more,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
/** @param {string[]} words */
const docker = (...words) => execFileSync('docker', words, { encoding: 'utf8' });

/** Milliseconds from the command to the agent's first instruction. @param {NodeJS.ProcessEnv} more */
function startOfSession(more) {
  const began = Date.now();
  return Number(ours(['--', 'date', '+%s%N'], more)) / 1e6 - began;
}

/** Bytes of memory of the containers whose names have these words. @param {(name: string) => string} containerOf */
function memoryOf(containerOf) {
  return SERVICES.map(({ name }) => {
    const id = docker('ps', '-q', '--no-trunc', '--filter', `name=${containerOf(name)}`).trim();
    const [pid] = docker('inspect', '--format', '{{.State.Pid}}', id).split('\n');
    const lines = readFileSync(`/proc/${pid}/cgroup`, 'utf8').split('\n');
    const group = (lines.find((line) => /:memory:|^0::/.test(line)) ?? '').split(':').at(-1);
    const files = [`/sys/fs/cgroup${group}/memory.stat`, `/sys/fs/cgroup/memory${group}/memory.stat`];
    const text = files.map((file) => tryRead(file)).find((one) => one !== undefined) ?? '';
    // Without the page cache, which counts for whoever read a file first.
    return Number(/^(?:anon|rss) (\d+)$/m.exec(text)?.[1]);
  });
}

/** @param {string} file */
function tryRead(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

// Also builds the images.
ours(['--', 'true'], withServices);
ours(['--', 'true'], env);
const plan = ours(['--dry-run', '--', 'true'], withServices);
const DATA = '/run/run-claude/data';
const plain = SERVICES.map(({ name, kind }) => {
  const { command, ready = 'true' } = SERVICE_KINDS[kind];
  const image = new RegExp(`companion-service.${name} [\\s\\S]*?(run-claude:[0-9a-f]{16})`).exec(plan)?.[1] ?? '';
  const words = ['--user', '61000:61000', '--env', 'HOME=/tmp', '--volume', DATA];
  const container = `run-claude-bench-${process.pid}-${name}`;
  return { container, ready, words: [...words, image, '/bin/bash', '-c', command.replaceAll('/data', DATA)] };
});

/** Both containers at once, as their readiness. */
async function startOfPlain() {
  const began = Date.now();
  const wait = (/** @type {string} */ ready) => `until (${ready}) >/dev/null 2>&1; do sleep 0.1; done`;
  await Promise.all(
    plain.map(async ({ container, ready, words }) => {
      await run('docker', ['run', '--detach', '--rm', '--network', 'none', '--name', container, ...words]);
      await run('docker', ['exec', container, '/bin/bash', '-c', wait(ready)]);
    }),
  );
  return Date.now() - began;
}

function stopPlain() {
  for (const { container } of plain) {
    try {
      execFileSync('docker', ['rm', '--force', '--volumes', container], { stdio: 'ignore' });
    } catch {
      // It was not started.
    }
  }
}

/** @type {Record<string, number[]>} */
const times = {
  'a session without services': [],
  'a session with two services': [],
  'docker run, two services': [],
};
/** @type {{ ours: number[], plain: number[] }} Bytes, in the order of the services */
const memory = { ours: [], plain: [] };
try {
  for (let round = 0; round < ROUNDS; round += 1) {
    times['a session without services']?.push(startOfSession(env));
    times['a session with two services']?.push(startOfSession(withServices));
    times['docker run, two services']?.push(await startOfPlain());
    if (round === 0) memory.plain = memoryOf((name) => `run-claude-bench-${process.pid}-${name}`);
    stopPlain();
  }
  const id = execFileSync(process.execPath, [main, 'up', '--yes', '--credentials=none', project], {
    env: withServices,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
  memory.ours = memoryOf((name) => `run-claude-${id}-companion-service.${name}`);
  execFileSync(process.execPath, [main, 'down', id], { env: withServices, stdio: 'ignore' });
} finally {
  stopPlain();
  rmSync(dir, { recursive: true, force: true });
}
for (const [name, all] of Object.entries(times))
  console.log(`${name.padEnd(36)} median ${median(all).toFixed(0)} ms, fastest ${Math.min(...all).toFixed(0)} ms`);
SERVICES.forEach(({ name }, at) => {
  const mb = (/** @type {number[]} */ all) => ((all[at] ?? Number.NaN) / 2 ** 20).toFixed(1);
  console.log(`memory of ${name.padEnd(26)} run-claude ${mb(memory.ours)} MB, docker run ${mb(memory.plain)} MB`);
});
