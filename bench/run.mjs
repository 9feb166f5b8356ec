// npm run bench [-- TREE…]: what a session costs beside the plain commands that a person would use instead, on the same
// tree in the same run, in one table a tree. TREE: FILES[xBYTES][+COMMITS], behind xfs: or btrfs: on a disk of that kind
// (100, 30000x33000, 200000x4000, 1000x4000+10000, xfs:30000x33000); the first three are the default.
// RUN_CLAUDE_BENCH_ROUNDS (3) runs of each line, the median counts. Needs an engine, rsync, git, and root for a disk of
// its own; where `srt` (npm: @anthropic-ai/sandbox-runtime, which copies nothing) is installed it has a line. Uses
// directories, sessions and containers of its own. Times of a busy machine vary: read the ratios.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, release, tmpdir, totalmem } from 'node:os';
import path from 'node:path';
import { mountImage, main as ours, prepareTree, quiet, readTree, spent } from './scene.mjs';
import { median, session, sessions } from './session.mjs';

const ROUNDS = Number(process.env['RUN_CLAUDE_BENCH_ROUNDS'] ?? 3);
const TREES = process.argv.length > 2 ? process.argv.slice(2) : ['100', '30000x33000', '200000x4000'];
/** Short commands are run more often: one look at them says little. */
const SHORT_ROUNDS = 9;

/** @typedef {[what: string, ms: number, beside: string, besideMs: number]} Row */

/**
 * Median milliseconds of a step; what `before` does is not counted. Nothing of an earlier step is left to be written.
 * @param {() => void} step @param {() => void} before
 */
function timed(step, before = () => {}, rounds = ROUNDS) {
  return median(
    Array.from({ length: rounds }, () => {
      before();
      if (rounds === ROUNDS) quiet('/', 'sync');
      const start = performance.now();
      step();
      return performance.now() - start;
    }),
  );
}

/** @param {() => void} step */
const timedShort = (step) => timed(step, undefined, SHORT_ROUNDS);

/** @param {ReturnType<typeof prepareTree>} scene @param {string} dir @param {string} image @param {boolean} shares */
function rivals({ project }, dir, image, shares) {
  const copy = path.join(dir, 'copy');
  const clear = () => {
    rmSync(copy, { recursive: true, force: true });
    execFileSync('git', ['worktree', 'prune'], { cwd: project });
  };
  const cp = timed(() => quiet(project, 'cp', '-a', '--reflink=never', project, copy), clear);
  const compare = timed(() => quiet(project, 'rsync', '-an', '--delete', `${project}/`, `${copy}/`));
  const reflink = shares
    ? timed(() => quiet(project, 'cp', '-a', '--reflink=always', project, copy), clear)
    : Number.NaN;
  const rsync = timed(() => quiet(project, 'rsync', '-a', `${project}/`, copy), clear);
  const clone = timed(() => quiet(project, 'git', 'clone', '-q', '--local', project, copy), clear);
  const worktree = timed(() => quiet(project, 'git', 'worktree', 'add', '-q', '--detach', copy), clear);
  clear();
  const status = timedShort(() => quiet(project, 'git', 'status', '--short'));
  const plain = timedShort(() => quiet(project, 'docker', 'run', '--rm', '--network', 'none', image, 'true'));
  const inBox = (/** @type {(box: string) => void} */ step) => {
    let box = '';
    const remove = () => box !== '' && quiet(project, 'docker', 'rm', '-f', box);
    const ms = timed(
      () => step(box),
      () => {
        remove();
        box = execFileSync('docker', ['create', image, 'true'], { encoding: 'utf8' }).trim();
      },
    );
    remove();
    return ms;
  };
  const dockerCp = inBox((box) => quiet(project, 'docker', 'cp', project, `${box}:/opt`));
  const tarCp = inBox((box) => quiet(project, 'sh', '-c', `tar -cf - . | docker cp - ${box}:/opt`));
  const installed = execFileSync('sh', ['-c', 'command -v srt || true'], { encoding: 'utf8' }) !== '';
  const srt = installed ? timedShort(() => quiet(project, 'srt', 'true')) : Number.NaN;
  return { cp, compare, reflink, rsync, clone, worktree, status, plain, dockerCp, tarCp, srt };
}

/** @param {string} word @param {string} image @param {string} dir */
async function bench(word, image, dir) {
  const tree = readTree(word);
  const disk = tree.disk === undefined ? undefined : mountImage(tree.disk, dir);
  try {
    await compare(tree, image, disk?.at ?? dir);
  } finally {
    disk?.remove();
  }
}

/** @param {ReturnType<typeof readTree>} tree @param {string} image @param {string} dir */
async function compare(tree, image, dir) {
  const scene = prepareTree(tree, dir);
  const than = rivals(scene, dir, image, tree.disk !== undefined);
  const node = timedShort(() => quiet(dir, process.execPath, '-e', '0'));
  const help = timedShort(() => quiet(dir, process.execPath, ours, '--help'));
  const listed = timedShort(() =>
    execFileSync(process.execPath, [ours, 'sessions'], { env: scene.env, stdio: 'ignore' }),
  );
  const fresh = () => {
    rmSync(path.join(dir, 'cache', 'run-claude', 'bases'), { recursive: true, force: true });
    quiet('/', 'sync');
  };
  // What an engine can mount is tried once a machine.
  await session(scene, 'true');
  const first = await sessions(ROUNDS, () => {
    fresh();
    return session(scene, 'true');
  });
  quiet('/', 'sync');
  const later = await sessions(ROUNDS, () => session(scene, 'true'));
  const before = spent(dir);
  await session(scene, 'true');
  const second = spent(dir) - before;
  const ten = 'for i in 1 2 3 4 5 6 7 8 9 10; do echo more >> d0/f$i; done';
  const edited = await sessions(ROUNDS, (round) => {
    scene.touchHundred(round);
    return session(scene, ten);
  });
  // Those sessions wait for an answer and stand on the newest copy: the next edits are a copy of their own.
  scene.touchHundred(ROUNDS);
  const beside = await session(scene, 'true');
  execFileSync(process.execPath, [ours, 'discard', '--yes'], { env: scene.env, stdio: 'ignore', cwd: scene.project });
  const thousand = await sessions(ROUNDS, () =>
    session(scene, 'mkdir new; for i in $(seq 1000); do echo $i > new/$i; done'),
  );
  const ignored = await sessions(ROUNDS, () => session(scene, 'mkdir out; cd out; seq 50000 | xargs touch'));
  const upload = await sessions(1, () => {
    fresh();
    return session(scene, 'true', 'volume');
  });
  const again = await sessions(ROUNDS, (round) => {
    scene.touchHundred(100 + round);
    return session(scene, 'true', 'volume');
  });
  const volume = execFileSync('docker', ['volume', 'ls', '-q', '--filter', 'name=run-claude-base-'], {
    encoding: 'utf8',
  });
  for (const name of volume.split('\n').filter(Boolean)) {
    const key = name.replace('run-claude-base-', '');
    const ourOwn = path.join(dir, 'cache', 'run-claude', 'bases', key);
    if (execFileSync('sh', ['-c', `test -d "$0" && echo yes || true`, ourOwn], { encoding: 'utf8' }) !== '')
      quiet('/', 'docker', 'volume', 'rm', '-f', name);
  }

  const where = tree.disk === undefined ? '' : `, on ${tree.disk}`;
  process.stdout.write(`\n${scene.says}${where}; median of ${ROUNDS}\n\n`);
  /** @type {Row[]} */
  const rows = [
    ['--help', help, 'node -e 0', node],
    ['sessions', listed, 'node -e 0', node],
    ['first start', first.start, 'cp -a', than.cp],
    ['first start', first.start, 'cp -a --reflink=always', than.reflink],
    ['first start', first.start, 'rsync -a', than.rsync],
    ['first start', first.start, 'git clone --local', than.clone],
    ['first start', first.start, 'git worktree add', than.worktree],
    ['first start', first.start, 'docker cp', than.dockerCp],
    ['first start', first.start, 'tar \\| docker cp -', than.tarCp],
    ['later start', later.start, 'docker run --rm IMAGE true', than.plain],
    ['later start', later.start, 'git status', than.status],
    ['later start', later.start, 'srt true', than.srt],
    ['later start', later.start, 'docker run + git status + 0.6 s', than.plain + than.status + 600],
    ['start after 100 host edits', edited.start, 'rsync -an --delete', than.compare],
    ['the same, another session waiting', beside.start, 'rsync -an --delete', than.compare],
    ['exit, nothing changed', later.exit, '0.3 s', 300],
    ['exit, 10 files changed', edited.exit, '0.3 s', 300],
    ['exit, 1,000 files changed', thousand.exit, 'rsync -an --delete', than.compare],
    ['exit, 50,000 ignored files', ignored.exit, 'rsync -an --delete', than.compare],
    ['volume: first start', upload.start, 'tar \\| docker cp -', than.tarCp],
    ['volume: start after 100 host edits', again.start, 'tar \\| docker cp -', than.tarCp],
  ];
  process.stdout.write('| run-claude | ms | beside | ms | ratio |\n|---|---:|---|---:|---:|\n');
  for (const [what, ms, besides, besideMs] of rows) {
    if (Number.isNaN(besideMs)) continue;
    process.stdout.write(
      `| ${what} | ${ms.toFixed(0)} | ${besides} | ${besideMs.toFixed(0)} | ${(ms / besideMs).toFixed(2)} |\n`,
    );
  }
  process.stdout.write(
    `\nPeak memory of the command: first ${first.peakMb.toFixed(0)} MB, later ${later.peakMb.toFixed(0)} MB. `,
  );
  process.stdout.write(`Disk that a further session takes before it writes: ${(second / 1024).toFixed(0)} KB.\n`);
}

const image = execFileSync(process.execPath, [ours, 'build'], { encoding: 'utf8' }).trim();
process.stdout.write(
  `${cpus().length} processors, ${(totalmem() / 1024 ** 3).toFixed(0)} GB of memory, kernel ${release()}, Node ${process.version}\n`,
);
for (const word of TREES) {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-bench-'));
  try {
    await bench(word, image, dir);
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  } finally {
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}
