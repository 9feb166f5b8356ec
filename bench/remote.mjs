// node bench/remote.mjs [FILES[xBYTES][+COMMITS]]: a later start on an engine behind ssh, next to the commands that a user
// would write instead: `tar | ssh docker cp` into a new container of the same image, and its start. Medians of
// RUN_CLAUDE_BENCH_ROUNDS (5) runs, one of each kind in turn, a hundred files changed before each round. The engine is this
// machine's own, behind an ssh server on loopback: it has no slow link, which would favour sending differences.
// Needs an engine, sshd, and root.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { prepareTree, readTree } from './scene.mjs';
import { median, session } from './session.mjs';
import { openSshServer } from './ssh-server.mjs';

const ROUNDS = Number(process.env['RUN_CLAUDE_BENCH_ROUNDS'] ?? 5);
const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-bench-'));
const front = await openSshServer(path.join(dir, 'ssh'));
const { project, env, says, touchHundred } = prepareTree(readTree(process.argv[2] ?? '30000x4000'), dir);
Object.assign(env, { PATH: front.path, RUN_CLAUDE_ON: 'bench' });
const config = path.join(String(env['XDG_CONFIG_HOME']), 'run-claude');
mkdirSync(config, { recursive: true });
writeFileSync(path.join(config, 'config.toml'), `[engine.bench]\nhost = "${front.host}"\n`);

/** The image of the newest session. */
function imageName() {
  const tags = execFileSync('docker', ['images', '--format', '{{.Repository}}:{{.Tag}}', 'run-claude'], {
    encoding: 'utf8',
  });
  return tags.split('\n')[0] ?? '';
}

/** Milliseconds from the first command to the first line of the program. @param {string} image @param {number} round */
function byHand(image, round) {
  const name = `run-claude-bench-${process.pid}-${round}`;
  const { hostname, port, username } = new URL(front.host);
  const create = `docker create --name ${name} --entrypoint date --network none ${image} +%s%N </dev/null >/dev/null`;
  const inside = `${create} && docker cp - ${name}:/workspace && docker start -a ${name} </dev/null && docker rm ${name} >/dev/null`;
  const script = `tar -C '${project}' -c . | ssh -p ${port} ${username}@${hostname} '${inside}'`;
  const began = Date.now();
  const output = execFileSync('sh', ['-c', script], { env, encoding: 'utf8' });
  return Number(output.trim()) / 1e6 - began;
}

const scene = { project, env };
try {
  const first = await session(scene, 'true');
  const image = imageName();
  /** @type {Record<'ours' | 'hand', number[]>} */
  const starts = { ours: [], hand: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    touchHundred(round);
    starts.hand.push(byHand(image, round));
    starts.ours.push((await session(scene, 'true')).start);
  }
  console.log(`${says}, 100 of them changed before each round`);
  console.log(`first start: ${Math.round(first.start)} ms`);
  for (const [name, all] of [
    ['a later start', starts.ours],
    ['tar | ssh docker cp, docker start', starts.hand],
  ]) {
    const values = /** @type {number[]} */ (all);
    console.log(`${name}: median ${Math.round(median(values))} ms, fastest ${Math.round(Math.min(...values))} ms`);
  }
  const ratio = median(starts.ours) / median(starts.hand);
  const fastest = Math.min(...starts.ours) / Math.min(...starts.hand);
  console.log(`ratio: ${ratio.toFixed(2)} of the medians, ${fastest.toFixed(2)} of the fastest`);
} finally {
  for (const key of readdirSync(path.join(dir, 'cache/run-claude/bases')))
    execFileSync('docker', ['volume', 'rm', `run-claude-base-${key}`], { stdio: 'ignore' });
  await front.close();
  rmSync(dir, { recursive: true, force: true });
}
