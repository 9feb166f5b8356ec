// node bench/kept-session.mjs: what one command costs in a session that is up, next to `docker exec` in the same container.
// Medians of RUN_CLAUDE_BENCH_ROUNDS (31) runs of `true`, one of each kind in turn: as whole commands of the host, and as
// one request over a kept connection next to the time that a shell inside takes for the same program. Needs an engine.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { loadSource } from './load-source.mjs';
import { main, smallProject } from './scene.mjs';
import { median } from './session.mjs';

const ROUNDS = Number(process.env['RUN_CLAUDE_BENCH_ROUNDS'] ?? 31);
const PROGRAM = '/bin/true';
/** So many programs in one loop inside, whose time is divided by it. */
const LOOP = 50;
const [{ connectKept }, { readRecord }] = await loadSource('session/kept/connection.ts', 'session/record/session.ts');

const { dir, project, env } = smallProject();
/** @param {string[]} words @param {string} [input] */
const ours = (words, input = '') =>
  execFileSync(process.execPath, [main, ...words], { env, input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] });

/** @param {() => unknown} step */
async function timed(step) {
  const start = performance.now();
  await step();
  return performance.now() - start;
}

const id = ours(['up', '--yes', '--credentials=none', project]).trim();
try {
  const record = readRecord(path.join(dir, 'state/run-claude/sessions', id));
  const connection = await connectKept(record);
  const request = async () => {
    const program = connection.start({ kind: 'run', argv: [PROGRAM] });
    program.stdin.end();
    program.stdout.resume();
    program.stderr.resume();
    await program.exit;
  };
  const loop = `s=$(date +%s%N); i=0; while [ $i -lt ${LOOP} ]; do ${PROGRAM}; i=$((i+1)); done; e=$(date +%s%N); echo $(((e-s)/${LOOP}))`;
  /** @type {Record<string, number[]>} */
  const times = {
    'docker exec': [],
    'run-claude exec --session': [],
    'the program, from a shell inside': [],
    request: [],
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    times['docker exec']?.push(await timed(() => execFileSync('docker', ['exec', `run-claude-${id}`, PROGRAM])));
    times['run-claude exec --session']?.push(await timed(() => ours(['exec', '--session', id, '--', PROGRAM])));
    times['the program, from a shell inside']?.push(
      Number(ours(['exec', '--session', id, '--', 'sh', '-c', loop])) / 1e6,
    );
    times['request']?.push(await timed(request));
  }
  connection.close();
  for (const [name, all] of Object.entries(times)) {
    console.log(`${name.padEnd(36)} median ${median(all).toFixed(1)} ms, fastest ${Math.min(...all).toFixed(1)} ms`);
  }
} finally {
  ours(['stop', id]);
  rmSync(dir, { recursive: true, force: true });
}
