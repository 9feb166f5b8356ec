// node bench/services.mjs: how long a session with Postgres and Redis takes to start, beside docker-compose with the same
// two images and commands, and what memory each service has. Medians of RUN_CLAUDE_BENCH_ROUNDS (5), one of each kind in
// turn. Both wait until Postgres answers a query and Redis a ping. Needs an engine and docker-compose (Debian has it).
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { loadSource } from './load-source.mjs';
import { main, smallProject } from './scene.mjs';
import { median } from './session.mjs';

const ROUNDS = Number(process.env['RUN_CLAUDE_BENCH_ROUNDS'] ?? 5);
const [{ SERVICE_KINDS }] = await loadSource('config/service-kinds.ts');
const SERVICES = [
  { name: 'db', kind: 'postgresql' },
  { name: 'cache', kind: 'redis-server' },
];
const PROJECT = 'run-claude-bench-services';

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
const compose = path.join(dir, 'compose.yaml');
const composed = SERVICES.map(({ name, kind }) => {
  const image = new RegExp(`companion-service-${name} [\\s\\S]*?(run-claude:[0-9a-f]{16})`).exec(plan)?.[1];
  const volume = `${name}-data:/run/run-claude/data`;
  const command = JSON.stringify([
    '/bin/bash',
    '-c',
    SERVICE_KINDS[kind].command.replaceAll('/data', '/run/run-claude/data').replaceAll('$', () => '$$'),
  ]);
  return `  ${name}:\n    image: ${image}\n    user: "61000:61000"\n    environment: {HOME: /tmp}\n    command: ${command}\n    volumes: ["${volume}"]\n`;
});
const volumes = SERVICES.map(({ name }) => `  ${name}-data: {}\n`);
writeFileSync(compose, `version: "3"\nservices:\n${composed.join('')}volumes:\n${volumes.join('')}`);
/** @param {string[]} words */
const composeRun = (...words) =>
  execFileSync('docker-compose', ['-p', PROJECT, '-f', compose, ...words], { stdio: ['ignore', 'ignore', 'pipe'] });
const ready = SERVICES.map(({ name, kind }) => ({ name, ready: SERVICE_KINDS[kind].ready ?? 'true' }));

function startOfCompose() {
  const began = Date.now();
  composeRun('up', '-d');
  for (const one of ready) {
    const wait = `until (${one.ready}) >/dev/null 2>&1; do sleep 0.1; done`;
    docker('exec', `${PROJECT}_${one.name}_1`, '/bin/bash', '-c', wait);
  }
  return Date.now() - began;
}

/** @type {Record<string, number[]>} */
const times = {
  'a session without services': [],
  'a session with two services': [],
  'docker-compose up, two services': [],
};
/** @type {{ ours: number[], compose: number[] }} Bytes, in the order of the services */
const memory = { ours: [], compose: [] };
try {
  for (let round = 0; round < ROUNDS; round += 1) {
    times['a session without services']?.push(startOfSession(env));
    times['a session with two services']?.push(startOfSession(withServices));
    times['docker-compose up, two services']?.push(startOfCompose());
    if (round === 0) memory.compose = memoryOf((name) => `${PROJECT}_${name}_1`);
    composeRun('down', '-v', '-t', '0');
  }
  const id = execFileSync(process.execPath, [main, 'up', '--yes', '--credentials=none', project], {
    env: withServices,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
  memory.ours = memoryOf((name) => `run-claude-${id}-companion-service-${name}`);
  execFileSync(process.execPath, [main, 'down', id], { env: withServices, stdio: 'ignore' });
} finally {
  composeRun('down', '-v', '-t', '0');
  rmSync(dir, { recursive: true, force: true });
}
for (const [name, all] of Object.entries(times))
  console.log(`${name.padEnd(36)} median ${median(all).toFixed(0)} ms, fastest ${Math.min(...all).toFixed(0)} ms`);
SERVICES.forEach(({ name }, at) => {
  const mb = (/** @type {number[]} */ all) => ((all[at] ?? Number.NaN) / 2 ** 20).toFixed(1);
  console.log(`memory of ${name.padEnd(26)} run-claude ${mb(memory.ours)} MB, docker-compose ${mb(memory.compose)} MB`);
});
