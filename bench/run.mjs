// npm run bench [-- TREE…]: what a session costs beside the plain commands that a person would use instead, on the same
// tree in the same run, in one table a tree. TREE is FILES or FILESxBYTES (30000x7000); default: 100 and 30000x7000.
// RUN_CLAUDE_BENCH_ROUNDS (3) runs of each line, the median counts. Needs an engine, rsync and git; uses directories,
// sessions and containers of its own. Times of a busy machine vary: read the ratios.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import path from 'node:path';
import { main as ours, prepareTree, quiet, spent } from './scene.mjs';

const ROUNDS = Number(process.env['RUN_CLAUDE_BENCH_ROUNDS'] ?? 3);
const TREES = process.argv.length > 2 ? process.argv.slice(2) : ['100', '30000x7000'];

/** @param {number[]} values */
function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/**
 * Median milliseconds of a step; what `before` does is not counted.
 * @param {(round: number) => void} step @param {(round: number) => void} before
 */
function timed(step, before = () => {}) {
  return median(
    Array.from({ length: ROUNDS }, (_, round) => {
      before(round);
      const start = performance.now();
      step(round);
      return performance.now() - start;
    }),
  );
}

/**
 * One session by the command itself. Its script tells when the agent began and ended, so that start and exit are apart.
 * @param {{ project: string, env: NodeJS.ProcessEnv }} scene @param {string} script
 * @returns {Promise<{ start: number, exit: number, peakMb: number }>}
 */
function session(scene, script) {
  const words = ['exec', '--yes', '--credentials=none', scene.project, '--'];
  const stamped = `date +%s%N; ${script}\ndate +%s%N`;
  return new Promise((resolve, reject) => {
    const began = Date.now();
    const child = spawn(process.execPath, [ours, ...words, 'sh', '-c', stamped], {
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
      // 120: changes wait for an answer.
      if (status !== 0 && status !== 120) reject(new Error(`a session ended with ${status}:\n${err}`));
      else resolve({ start: first - began, exit: Date.now() - last, peakMb: peakKb / 1024 });
    });
  });
}

/** @param {() => Promise<{ start: number, exit: number, peakMb: number }>} run */
async function sessions(run) {
  /** @type {{ start: number, exit: number, peakMb: number }[]} */
  const all = [];
  for (let round = 0; round < ROUNDS; round += 1) all.push(await run());
  /** @param {'start' | 'exit' | 'peakMb'} key */
  const of = (key) => median(all.map((one) => one[key]));
  return { start: of('start'), exit: of('exit'), peakMb: of('peakMb') };
}

/** @param {string} tree @param {string} image @param {string} dir */
async function bench(tree, image, dir) {
  const scene = prepareTree(tree, dir);
  const { project } = scene;
  const copy = path.join(dir, 'copy');
  const clear = () => {
    rmSync(copy, { recursive: true, force: true });
    execFileSync('git', ['worktree', 'prune'], { cwd: project });
  };
  const cp = timed(() => quiet(project, 'cp', '-a', project, copy), clear);
  const compare = timed(() => quiet(project, 'rsync', '-an', '--delete', `${project}/`, `${copy}/`));
  const reflink = timed(() => quiet(project, 'cp', '-a', '--reflink=auto', project, copy), clear);
  const rsync = timed(() => quiet(project, 'rsync', '-a', `${project}/`, copy), clear);
  const clone = timed(() => quiet(project, 'git', 'clone', '-q', '--local', project, copy), clear);
  const worktree = timed(() => quiet(project, 'git', 'worktree', 'add', '-q', '--detach', copy), clear);
  clear();
  const status = timed(() => quiet(project, 'git', 'status', '--short'));
  const plain = timed(() => quiet(project, 'docker', 'run', '--rm', '--network', 'none', image, 'true'));
  const node = timed(() => quiet(project, process.execPath, '-e', '0'));
  const help = timed(() => quiet(project, process.execPath, ours, '--help'));
  const listed = timed(() => execFileSync(process.execPath, [ours, 'sessions'], { env: scene.env, stdio: 'ignore' }));
  const box = execFileSync('docker', ['create', image, 'true'], { encoding: 'utf8' }).trim();
  const dockerCp = timed(() => quiet(project, 'docker', 'cp', project, `${box}:/opt`));
  const tarCp = timed(() => quiet(project, 'sh', '-c', `tar -cf - . | docker cp - ${box}:/opt`));
  quiet(project, 'docker', 'rm', '-f', box);

  const first = await sessions(() => {
    rmSync(path.join(dir, 'cache', 'run-claude', 'bases'), { recursive: true, force: true });
    return session(scene, 'true');
  });
  const later = await sessions(() => session(scene, 'true'));
  const before = spent(dir);
  await session(scene, 'true');
  const second = spent(dir) - before;
  let edit = 0;
  const edited = await sessions(() => {
    edit += 1;
    scene.touchHundred(edit);
    return session(scene, 'for i in 1 2 3 4 5 6 7 8 9 10; do echo more >> d0/f$i; done');
  });
  const thousand = await sessions(() => session(scene, 'mkdir new; for i in $(seq 1000); do echo $i > new/$i; done'));
  const ignored = await sessions(() => session(scene, 'mkdir out; cd out; seq 5000 | xargs touch'));

  process.stdout.write(`\n${scene.says}; median of ${ROUNDS}\n\n`);
  /** @type {[string, number, string, number][]} */
  const rows = [
    ['--help', help, 'node -e 0', node],
    ['sessions', listed, 'node -e 0', node],
    ['first start', first.start, 'cp -a', cp],
    ['first start', first.start, 'cp -a --reflink=auto', reflink],
    ['first start', first.start, 'rsync -a', rsync],
    ['first start', first.start, 'git clone --local', clone],
    ['first start', first.start, 'git worktree add', worktree],
    ['first start', first.start, 'docker cp', dockerCp],
    ['first start', first.start, 'tar | docker cp -', tarCp],
    ['later start', later.start, 'docker run --rm IMAGE true', plain],
    ['later start', later.start, 'git status', status],
    ['start after 100 host edits', edited.start, 'rsync -an --delete', compare],
    ['exit, nothing changed', later.exit, 'git status', status],
    ['exit, 10 files changed', edited.exit, 'git status', status],
    ['exit, 1,000 files changed', thousand.exit, 'rsync -an --delete', compare],
    ['exit, 5,000 ignored files', ignored.exit, 'rsync -an --delete', compare],
  ];
  process.stdout.write('| run-claude | ms | beside | ms | ratio |\n|---|---:|---|---:|---:|\n');
  for (const [what, ms, beside, besideMs] of rows) {
    process.stdout.write(
      `| ${what} | ${ms.toFixed(0)} | ${beside} | ${besideMs.toFixed(0)} | ${(ms / besideMs).toFixed(2)} |\n`,
    );
  }
  process.stdout.write(
    `\nPeak memory of the command: first ${first.peakMb.toFixed(0)} MB, later ${later.peakMb.toFixed(0)} MB. `,
  );
  process.stdout.write(`Disk that a further session takes before it writes: ${(second / 1024).toFixed(0)} KB.\n`);
}

const image = execFileSync(process.execPath, [ours, 'build'], { encoding: 'utf8' }).trim();
process.stdout.write(
  `${cpus().length} processors, ${(totalmem() / 1024 ** 3).toFixed(0)} GB of memory, Node ${process.version}\n`,
);
for (const tree of TREES) {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-bench-'));
  try {
    await bench(tree, image, dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
