// The constants of the model of docs/explanation/scale.md, measured here with the real command, a stand-in for the
// provider, and an engine.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { loadSource } from './load-source.mjs';
import { watch } from './scale-watch.mjs';
import { main, prepareTree, smallProject, spent } from './scene.mjs';
import { median } from './session.mjs';

/** @typedef {ReturnType<typeof smallProject>} Scene */

const KEY = 'sk-ant-api03-of-the-bench';

/**
 * A project of one file whose sessions ask a stand-in for the provider, until `close`.
 * @returns {Promise<Scene & { close: () => void }>}
 */
export async function askingScene() {
  const standIn = path.join(path.dirname(import.meta.dirname), 'test/support/stand-in/messages-api.mjs');
  // It ends with its standard input.
  const api = spawn(process.execPath, [standIn], { stdio: ['pipe', 'pipe', 'inherit'] });
  const url = String((await once(api.stdout, 'data'))[0]).trim();
  const scene = smallProject();
  Object.assign(scene.env, { HOME: scene.dir, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: KEY });
  return {
    ...scene,
    close() {
      api.stdin.end();
      rmSync(scene.dir, { recursive: true, force: true });
    },
  };
}

/** @param {string} dir @returns {string[]} ids of the sessions of a scene */
export function sessionIds(dir) {
  const at = path.join(dir, 'state/run-claude/sessions');
  return existsSync(at) ? readdirSync(at).filter((name) => /^\d{6}-\d{6}-\w+$/.test(name)) : [];
}

/**
 * One command to its end. 120: changes are pending.
 * @param {{ project: string, env: NodeJS.ProcessEnv }} scene @param {string[]} words
 * @returns {Promise<{ ms: number, stdout: string }>}
 */
export function run({ project, env }, words) {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const child = spawn(process.execPath, [main, ...words], { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.on('error', reject);
    child.on('close', (status) => {
      if (status === 0 || status === 120) resolve({ ms: performance.now() - start, stdout });
      else reject(new Error(`run-claude ${words.join(' ')} ended with ${status}:\n${stderr}`));
    });
  });
}

/**
 * One session alone, watched.
 * @param {Scene} scene @param {string[]} words @param {number} other processors that other work uses
 */
export async function watchSession({ dir, project, env }, words, other) {
  const found = await watch(
    () => spawn(process.execPath, [main, ...words], { cwd: project, env, stdio: 'ignore' }),
    // Asked at the end: then its record is there.
    { other, isOwn: (name) => sessionIds(dir).some((id) => name.startsWith(`run-claude-${id}`)) },
  );
  if (found.status !== 0 && found.status !== 120)
    throw new Error(`run-claude ${words.join(' ')} ended with ${found.status}`);
  return found;
}

/**
 * What a batch takes beside its sessions: a file whose only task has ended is run again, which starts nothing.
 * @param {Scene} scene @returns {Promise<number>} milliseconds
 */
export async function batchOverhead(scene) {
  const file = path.join(scene.dir, 'tasks-overhead');
  writeFileSync(file, 'a task for the overhead\n');
  await run(scene, ['batch', '--json', file]);
  const again = [];
  for (let round = 0; round < 3; round += 1) again.push((await run(scene, ['batch', '--json', file])).ms);
  return median(again);
}

/** Runs a file of new tasks. @param {Scene} scene @param {{ tasks: number, jobs: number }} queue */
export async function realBatch(scene, { tasks, jobs }) {
  const file = path.join(scene.dir, `tasks-${jobs}`);
  writeFileSync(file, Array.from({ length: tasks }, (_, at) => `task ${at} of ${jobs}`).join('\n'));
  return (await run(scene, ['batch', '--json', '--jobs', String(jobs), file])).ms;
}

/**
 * Counts the bytes between the command and the engine, on a socket in a directory of this user alone.
 * @param {NodeJS.ProcessEnv} env
 */
async function countingEngine(env) {
  const host = env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock';
  if (!host.startsWith('unix://')) throw new Error('the bytes are counted on a Unix socket only: unset DOCKER_HOST');
  const count = { to: 0, from: 0 };
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-bench-wire-'));
  const server = net.createServer({ allowHalfOpen: true }, (client) => {
    const engine = net.connect({ path: host.slice('unix://'.length), allowHalfOpen: true });
    client.on('data', (chunk) => {
      count.to += chunk.length;
    });
    engine.on('data', (chunk) => {
      count.from += chunk.length;
    });
    client.pipe(engine).pipe(client);
    client.on('error', () => engine.destroy());
    engine.on('error', () => client.destroy());
  });
  const socket = path.join(dir, 'docker.sock');
  server.listen(socket);
  await once(server, 'listening');
  return {
    endpoint: `unix://${socket}`,
    take() {
      const taken = { ...count };
      Object.assign(count, { to: 0, from: 0 });
      return taken;
    },
    close() {
      server.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

const TREE = { disk: undefined, files: 1000, bytes: 4000, commits: 0 };
const EDITED = 100;
const WRITTEN = 10;

/**
 * Bytes between the command and an engine that sees none of this machine's files, uncompressed.
 * @returns {Promise<{ treeBytes: number, fixedTo: number, fixedFrom: number, base: number, perEdit: number, perWritten: number }>}
 *   fixed: of a start where nothing changed. perEdit: a file of 4,000 bytes that you edited. perWritten: one that the agent
 *   changed, both sides
 */
export async function wireBytes() {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-bench-'));
  const scene = prepareTree(TREE, dir);
  const wire = await countingEngine(scene.env);
  scene.env['DOCKER_HOST'] = wire.endpoint;
  const bases = path.join(dir, 'cache/run-claude/bases');
  const words = ['exec', '--yes', '--credentials=none', '--copy-workspace=volume', scene.project, '--', 'sh', '-c'];
  /** @param {string} script */
  const bytesOf = async (script) => {
    wire.take();
    await run(scene, [...words, script]);
    return wire.take();
  };
  try {
    const first = await bytesOf('true');
    const again = await bytesOf('true');
    scene.touchHundred(1);
    const edited = await bytesOf('true');
    const list = Array.from({ length: WRITTEN }, (_, at) => at).join(' ');
    const wrote = await bytesOf(`for i in ${list}; do echo more >> d0/f$i; done`);
    return {
      treeBytes: Number(execFileSync('du', ['-sb', scene.project], { encoding: 'utf8' }).split('\t')[0]),
      fixedTo: again.to,
      fixedFrom: again.from,
      base: first.to - again.to,
      perEdit: (edited.to - again.to) / EDITED,
      perWritten: (wrote.from - again.from) / WRITTEN,
    };
  } finally {
    wire.close();
    // The last session's layer stays for its review.
    const layers = sessionIds(dir).map((id) => `run-claude-${id}-layer`);
    const keys = existsSync(bases) ? readdirSync(bases) : [];
    for (const volume of [...layers, ...keys.map((key) => `run-claude-base-${key}`)])
      execFileSync('docker', ['volume', 'rm', '-f', volume], { stdio: 'ignore' });
    rmSync(dir, { recursive: true, force: true });
  }
}

/** What gzip -1, which a base is sent with to an engine behind a network, leaves of this repository's own files. */
export function compressed() {
  const tar = execFileSync('git', ['archive', 'HEAD'], { cwd: import.meta.dirname, maxBuffer: 1 << 30 });
  return gzipSync(tar, { level: 1 }).length / tar.length;
}

/**
 * Processor time of the gateway for requests to the provider: sessions that send none, many small ones, and many of
 * 200 KB. @param {Scene} scene @param {number} other
 * @returns {Promise<{ perRequestMs: number, perMbMs: number, idleMs: number }>}
 */
export async function gatewayCost(scene, other) {
  const count = 200;
  const kilobytes = 200;
  /** @param {number} requests @param {number} kb */
  const gatewayMs = async (requests, kb) => {
    const body = `{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"'$(head -c ${kb * 1000 + 1} /dev/zero | tr '\\0' x)'"}]}`;
    // One process for all requests: its connection is kept, as an agent keeps it.
    const request = [
      'url = "%s/v1/messages"',
      'output = /dev/null',
      'data = "@/tmp/body"',
      'header = "content-type: application/json"',
      'header = "anthropic-version: 2023-06-01"',
      'header = "x-api-key: %s"',
      'write-out = "%%{http_code} "',
      'next',
    ].join('\\n');
    const script = `set -e; printf %s '${body}' > /tmp/body
for i in $(seq ${requests}); do printf '${request}\\n' "$ANTHROPIC_BASE_URL" "$ANTHROPIC_API_KEY"; done > /tmp/requests
[ ${requests} = 0 ] || [ "$(curl -sS -K /tmp/requests | tr ' ' '\\n' | grep -c '^200$')" = ${requests} ]
sleep 4`;
    const { parts } = await watchSession(scene, ['exec', '--yes', '--', 'bash', '-c', script], other);
    return parts['gateway']?.cpuMs ?? Number.NaN;
  };
  const [none, small, large] = [await gatewayMs(0, 1), await gatewayMs(count, 1), await gatewayMs(count, kilobytes)];
  const perRequestMs = (small - none) / count;
  return { perRequestMs, perMbMs: (large - small) / (count * ((kilobytes - 1) / 1000)), idleMs: none };
}

/** Bytes on the disk of this machine that a session leaves, its changes pending. @param {Scene} scene */
export async function storePerSession(scene) {
  const sessions = 2;
  const before = spent(scene.dir);
  for (let at = 0; at < sessions; at += 1)
    await run(scene, ['exec', '--yes', '--', 'sh', '-c', `echo ${at} >> a.txt; echo ${at} > new-${at}.txt`]);
  return (spent(scene.dir) - before) / sessions;
}

/**
 * Milliseconds for each record that is kept, from copies of one: `listed` in `sessions`, `read` in every start, which looks
 * for sessions that were cut off. @param {Scene} scene @returns {Promise<{ listed: number, read: number }>}
 */
export async function perRecordMs(scene) {
  const copies = 500;
  const state = path.join(scene.dir, 'state/run-claude');
  const [id] = sessionIds(scene.dir);
  if (id === undefined) throw new Error('no session to copy');
  const [{ listSessions }] = await loadSource('session/record/session.ts');
  /** @returns {{ ms: number, count: number }} */
  const read = () => {
    const start = performance.now();
    const { sessions } = listSessions(state);
    return { ms: performance.now() - start, count: sessions.length };
  };
  const both = async () => {
    const rounds = [];
    for (let round = 0; round < 3; round += 1)
      rounds.push({ listed: (await run(scene, ['sessions', '--all', '--json'])).ms, read: read() });
    return {
      listed: median(rounds.map(({ listed }) => listed)),
      read: median(rounds.map((round) => round.read.ms)),
      count: rounds[0]?.read.count ?? 0,
    };
  };
  const before = await both();
  // An id ends in three characters, of which 2 to 9 are enough here.
  const made = Array.from({ length: copies }, (_, index) => {
    const tail = [...index.toString(8).padStart(3, '0')].map((digit) => Number(digit) + 2).join('');
    return `200101-000000-${tail}`;
  });
  for (const name of made) {
    const at = path.join(state, 'sessions', name);
    cpSync(path.join(state, 'sessions', id), at, { recursive: true });
    const file = path.join(at, 'session.json');
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(id, name));
  }
  const after = await both();
  for (const name of made) rmSync(path.join(state, 'sessions', name), { recursive: true });
  if (after.count - before.count !== copies)
    throw new Error(`${after.count - before.count} of ${copies} copies were read`);
  return { listed: (after.listed - before.listed) / copies, read: (after.read - before.read) / copies };
}
