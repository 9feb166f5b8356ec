// npm run bench [-- FILES]: what a session costs beside the plain commands that a person would use instead, in one
// table with ratios. Needs an engine; uses directories and sessions of its own. Times of a busy machine vary: read the
// ratios. Each line is the median of three runs.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROUNDS = 3;
const FILES = Number(process.argv[2] ?? 5000);
const main = path.join(path.dirname(import.meta.dirname), 'dist/main.js');
const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-bench-'));
const project = path.join(dir, 'project');
const env = {
  ...process.env,
  XDG_STATE_HOME: path.join(dir, 'state'),
  XDG_DATA_HOME: path.join(dir, 'data'),
};

/**
 * Milliseconds of the median of three runs; `prepare` is not counted.
 * @param {(round: number) => void} step @param {(round: number) => void} prepare
 */
function median(step, prepare = () => {}) {
  const times = Array.from({ length: ROUNDS }, (_, round) => {
    prepare(round);
    const start = performance.now();
    step(round);
    return performance.now() - start;
  });
  return times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN;
}

/** @param {string} program @param {string[]} argv */
function quiet(program, ...argv) {
  execFileSync(program, argv, { cwd: project, stdio: ['ignore', 'ignore', 'pipe'] });
}

/**
 * One session; `cache` names the cache directory, so that a new one means a first session.
 * @param {string} cache @param {string} script
 */
function session(cache, script) {
  const argv = [main, 'exec', '--yes', '--credentials=none', '--network', 'none', project, '--', 'sh', '-c', script];
  const result = spawnSync(process.execPath, argv, {
    cwd: project,
    env: { ...env, XDG_CACHE_HOME: cache },
    encoding: 'utf8',
  });
  // 120: changes wait for an answer.
  if (result.status !== 0 && result.status !== 120)
    throw new Error(`a session ended with ${result.status}:\n${result.stderr}`);
}

function makeProject() {
  for (let i = 0; i < FILES; i += 1) {
    const folder = path.join(project, `src/${Math.floor(i / 100)}`);
    if (i % 100 === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, `file${i}.txt`), `file ${i}\n`.repeat(200));
  }
  quiet('git', 'init', '-q');
  quiet('git', 'add', '-A');
  quiet('git', '-c', 'user.name=b', '-c', 'user.email=b@example.org', 'commit', '-q', '-m', 'all');
}

/** @param {string} what @param {number} ms @param {string} beside @param {number} besideMs */
function row(what, ms, beside, besideMs) {
  const cells = [
    what.padEnd(34),
    `${ms.toFixed(0)} ms`.padStart(10),
    beside.padEnd(28),
    `${besideMs.toFixed(0)} ms`.padStart(10),
  ];
  process.stdout.write(`${cells.join('  ')}  ${(ms / besideMs).toFixed(2).padStart(7)}\n`);
}

try {
  mkdirSync(project);
  makeProject();
  const image = execFileSync(process.execPath, [main, 'build'], { encoding: 'utf8' }).trim();
  const warm = path.join(dir, 'cache-warm');
  session(warm, 'true');
  const plain = median(() => quiet('docker', 'run', '--rm', '--network', 'none', image, 'true'));
  const second = median(() => session(warm, 'true'));
  const first = median((round) => session(path.join(dir, `cache-${round}`), 'true'));
  const changing = median(() => session(warm, 'for f in src/1/*; do echo more >> $f; done'));
  const copy = path.join(dir, 'copy');
  const clear = () => rmSync(copy, { recursive: true, force: true });
  const cp = median(() => quiet('cp', '-a', project, copy), clear);
  const rsync = median(() => quiet('rsync', '-a', `${project}/`, copy), clear);
  const compare = median(() => quiet('rsync', '-an', '--delete', `${project}/`, `${copy}/`));
  const status = median(() => quiet('git', 'status', '--short'));
  process.stdout.write(`${FILES} files, each line the median of ${ROUNDS} runs\n\n`);
  row('a session that does nothing', second, 'docker run --rm IMAGE true', plain);
  row('copy-in (first session beyond it)', Math.max(1, first - second), 'cp -a', cp);
  row('copy-in (first session beyond it)', Math.max(1, first - second), 'rsync -a', rsync);
  row('100 changed files at the end', Math.max(1, changing - second), 'rsync -an --delete', compare);
  row('100 changed files at the end', Math.max(1, changing - second), 'git status', status);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
