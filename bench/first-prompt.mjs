// node bench/first-prompt.mjs: how long a fresh clone needs to the first prompt of Claude Code, in parts, with an image that
// is built and with one that is pulled. The image's base and the published image come from a docker-registry on loopback;
// npm and Debian packages from where this machine gets them, into empty caches. Needs docker, docker-registry and script.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { environmentIn } from './scene.mjs';

const LABEL = 'run-claude.bench';
const PROMPT = /for shortcuts|\/effort/;
const PROMPT_LIMIT_MS = 5 * 60_000;
const root = path.dirname(import.meta.dirname);
const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-bench-'));
const clone = path.join(dir, 'clone');
const pinsFile = path.join(clone, 'images/pins.json');
/** @param {string[]} words */
const docker = (...words) => execFileSync('docker', words, { encoding: 'utf8' }).trim();
/** @param {string} text @param {number} from */
const print = (text, from) => console.log(`${((performance.now() - from) / 1000).toFixed(1).padStart(8)} s  ${text}`);

/** @param {string} text @param {string} program @param {string[]} words */
function timed(text, program, ...words) {
  const from = performance.now();
  execFileSync(program, words, { cwd: existsSync(clone) ? clone : dir, stdio: ['ignore', 'ignore', 'inherit'] });
  print(text, from);
}

/** A new user's directories: nothing is downloaded or copied yet. @param {string} name */
function userEnv(name) {
  const npm = { npm_config_cache: path.join(dir, name, 'npm') };
  return {
    ...environmentIn(path.join(dir, name)),
    ...npm,
    ANTHROPIC_API_KEY: 'sk-ant-bench',
    TERM: 'xterm-256color',
  };
}

/** The image, each message of the command the beginning of a part. @param {NodeJS.ProcessEnv} env */
async function image(env) {
  const child = spawn(process.execPath, ['dist/main.js', 'build'], { cwd: clone, env });
  const start = performance.now();
  let [part, from] = ['start of the command', start];
  child.stderr.setEncoding('utf8').on('data', (/** @type {string} */ text) => {
    for (const [, message = ''] of text.matchAll(/^\[sandbox\] ([A-Z].*)$/gm)) {
      const next = message.replace(/: \d+ of \d+ .*/, '').slice(0, 90);
      if (next === part) continue;
      print(`  ${part}`, from);
      [part, from] = [next, performance.now()];
    }
  });
  let tag = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    tag += text;
  });
  const status = await new Promise((resolve) => child.once('close', resolve));
  if (status !== 0) throw new Error(`run-claude build ended with ${status} in: ${part}`);
  print(`  ${part}`, from);
  print('image, in all', start);
  return tag.trim();
}

/** The first session of this user, to the prompt of Claude Code. @param {NodeJS.ProcessEnv} env @param {string} name */
async function firstPrompt(env, name) {
  const project = path.join(dir, `project-${name}`);
  mkdirSync(project);
  execFileSync('sh', ['-c', 'git init -q; for i in $(seq 100); do echo "$i" >"file-$i"; done'], { cwd: project });
  const from = performance.now();
  const command = `stty cols 100 rows 40; exec ${process.execPath} ${clone}/dist/main.js --copy-workspace --yes`;
  const child = spawn('script', ['-qefc', command, '/dev/null'], { cwd: project, env, detached: true });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  const closed = new Promise((resolve) => child.once('close', resolve));
  while (!PROMPT.test(output) && child.exitCode === null && performance.now() - from < PROMPT_LIMIT_MS) await sleep(20);
  if (!PROMPT.test(output)) throw new Error(`no prompt of Claude Code:\n${output.slice(-2_000)}`);
  print('first session, to the prompt', from);
  while (child.exitCode === null) {
    child.stdin.write('\x03');
    await Promise.race([closed, sleep(500)]);
  }
  await closed;
}

/** @returns {Promise<{ host: string, end: () => void }>} */
async function startRegistry() {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const address = probe.address();
  const host = `127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;
  await new Promise((resolve) => probe.close(resolve));
  const config = path.join(dir, 'registry.yml');
  const storage = `storage: { filesystem: { rootdirectory: ${dir}/registry } }`;
  writeFileSync(config, `version: 0.1\n${storage}\nhttp: { addr: '${host}' }\nlog: { level: error }\n`);
  const registry = spawn('docker-registry', ['serve', config], { stdio: 'ignore' });
  while (
    !(await fetch(`http://${host}/v2/`).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    await sleep(100);
  return { host, end: () => void registry.kill() };
}

/** Everything that was made from the base of this bench. */
function removeImages() {
  for (const id of new Set(
    docker('images', '--all', '--quiet', '--filter', `label=${LABEL}=${path.basename(dir)}`).split('\n'),
  ))
    if (id !== '') spawnSync('docker', ['rmi', '--force', id], { stdio: 'ignore' });
}

const registry = await startRegistry();
try {
  const env = userEnv('builds');
  timed('git clone', 'git', 'clone', '--quiet', '--no-hardlinks', `file://${root}`, clone);
  timed(
    'npm ci',
    'sh',
    '-c',
    `npm_config_cache=${path.join(dir, 'npm')} npm ci --silent --ignore-scripts --no-audit --no-fund`,
  );
  timed('compiled', 'npm', 'run', '--silent', 'build');
  const pins = JSON.parse(readFileSync(pinsFile, 'utf8'));
  const base = `${registry.host}/debian:bench`;
  const own = `run-claude-base:${pins.debian.release}-${docker('version', '--format', '{{.Server.Arch}}')}`;
  const from = docker('images', '--quiet', own) === '' ? pins.debian.reference : own;
  // One new layer with its own label: no layer is in the engine's cache, and all of them can be found again.
  const script = `id=$(docker create "$1" /bin/true); docker export "$id" | docker import --change "LABEL $3" - "$2"; docker rm "$id"`;
  const words = [from, base, `${LABEL}=${path.basename(dir)}`];
  execFileSync('sh', ['-euc', script, 'sh', ...words], { stdio: ['ignore', 'ignore', 'inherit'] });
  docker('push', '--quiet', base);
  removeImages();
  // A base that was made here has another name.
  const debian = { ...pins.debian, reference: base, release: `${pins.debian.release}-bench` };
  writeFileSync(pinsFile, JSON.stringify({ ...pins, debian }));
  console.log('With a built image:');
  await image(env);
  await firstPrompt(env, 'builds');
  execFileSync('sh', ['scripts/publish-image.sh', `${registry.host}/run-claude`], { cwd: clone, env, stdio: 'ignore' });
  removeImages();
  console.log('With a pulled image:');
  const pulls = userEnv('pulls');
  await image(pulls);
  await firstPrompt(pulls, 'pulls');
} finally {
  removeImages();
  registry.end();
  rmSync(dir, { recursive: true, force: true });
}
