// npm run bench [-- TREE…]: what a session costs compared with the plain commands that a user would run instead, on the
// same tree in the same run, in one table per tree. TREE: FILES[xBYTES][+COMMITS], after `xfs:` or `btrfs:` on a disk with
// that file system (100, 1000x4000+10000, 30000x33000, 200000x4000, xfs:30000x33000); the first four are the default.
// RUN_CLAUDE_BENCH_ROUNDS (3) runs of each line; the table has the medians. The table of a large tree can be measured in
// parts: RUN_CLAUDE_BENCH_DIR keeps the trees and their results, RUN_CLAUDE_BENCH_PARTS names the parts to measure now
// (copies, short, boxes, first, later, bind, edits, thousand, ignored, volume); the table has all results so far.
// Needs an engine, rsync, git, and root for such a disk. Where `srt` (npm: @anthropic-ai/sandbox-runtime, which copies
// nothing) is installed it has a line. Uses its own directories, sessions and containers. On a busy machine read the
// ratios, not the times.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, release, tmpdir, totalmem } from 'node:os';
import path from 'node:path';
import { boxes, copies, ROUNDS, short, timed } from './plain-commands.mjs';
import { mountImage, main as ours, prepareTree, quiet, readTree, spent } from './scene.mjs';
import { median, session, sessions } from './session.mjs';

const TREES =
  process.argv.length > 2 ? process.argv.slice(2) : ['100', '1000x4000+10000', '30000x33000', '200000x4000'];
const KEPT = process.env['RUN_CLAUDE_BENCH_DIR'];
/** Limit of a later start beyond `docker run` and `git status`. */
const LATER_MS = 350;
/** @typedef {[what: string, ms: number, beside: string, besideMs: number]} Row */
/** @typedef {import('./plain-commands.mjs').Bench} Bench */

/** Without a private copy on this machine. @param {Bench} bench */
function forget({ dir }) {
  rmSync(path.join(dir, 'cache', 'run-claude', 'bases'), { recursive: true, force: true });
  quiet('/', 'sync');
}

/** Parts that can be measured separately, in the order of a session. */
/** @type {Record<string, (bench: Bench) => Record<string, number> | Promise<Record<string, number>>>} */
const PARTS = {
  copies,
  short,
  boxes,
  async first(bench) {
    // What an engine can mount is tried once a machine.
    await session(bench.scene, 'true');
    const { start, peakMb } = await sessions(ROUNDS, () => {
      forget(bench);
      return session(bench.scene, 'true');
    });
    return { first: start, firstMb: peakMb };
  },
  async later({ scene, dir, image }) {
    await session(scene, 'true');
    quiet('/', 'sync');
    /** @type {number[][]} */
    const rounds = [];
    const { start, exit, peakMb } = await sessions(ROUNDS, async () => {
      // In turn: what else the machine does counts on both sides of the ratio.
      const beside = [
        timed(() => quiet(scene.project, 'docker', 'run', '--rm', '--network', 'none', image, 'true'), undefined, 1),
        timed(() => quiet(scene.project, 'git', 'status', '--short'), undefined, 1),
      ];
      const one = await session(scene, 'true');
      rounds.push([one.start, ...beside]);
      return one;
    });
    const before = spent(dir);
    await session(scene, 'true');
    /** The fastest of each: what other work on the machine disturbs least. @param {number} at */
    const fastest = (at) => Math.min(...rounds.map((round) => round[at] ?? Number.NaN));
    /** @param {(round: number[]) => number} of */
    const medianOf = (of) => median(rounds.map(of));
    return {
      later: start,
      laterBeside: medianOf(([, run = Number.NaN, status = Number.NaN]) => run + status + LATER_MS),
      laterFastest: fastest(0),
      laterFastestBeside: fastest(1) + fastest(2) + LATER_MS,
      exitNothing: exit,
      laterMb: peakMb,
      second: spent(dir) - before,
    };
  },
  async bind({ scene, dir, image }) {
    await session(scene, 'true', 'bind');
    await session(scene, 'true');
    /** @type {number[][]} */
    const rounds = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      // In turn: what else the machine does counts on both sides of the ratio.
      const mounted = ['run', '--rm', '--network', 'none', '-v', `${scene.project}:/workspace`, image, 'true'];
      const plain = timed(() => quiet(scene.project, 'docker', ...mounted), undefined, 1);
      const status = timed(() => quiet(scene.project, 'git', 'status', '--short'), undefined, 1);
      const copied = await session(scene, 'true');
      const bound = await session(scene, 'true', 'bind');
      rounds.push([bound.start, copied.start, plain + status, bound.exit, copied.exit]);
    }
    /** @param {number} at */
    const medianOf = (at) => median(rounds.map((round) => round[at] ?? Number.NaN));
    const before = spent(dir);
    await session(scene, 'true', 'bind');
    return {
      bind: medianOf(0),
      bindCopied: medianOf(1),
      bindPlain: medianOf(2),
      exitBind: medianOf(3),
      exitBindCopied: medianOf(4),
      bindKept: spent(dir) - before,
    };
  },
  async edits({ scene }) {
    const ten = 'for i in 1 2 3 4 5 6 7 8 9 10; do echo more >> d0/f$i; done';
    const discard = () =>
      execFileSync(process.execPath, [ours, 'discard', '--yes'], {
        env: scene.env,
        stdio: 'ignore',
        cwd: scene.project,
      });
    const edited = await sessions(ROUNDS, async (round) => {
      scene.touchHundred(round);
      const one = await session(scene, ten);
      discard();
      return one;
    });
    // This session stays pending: its base may not change.
    await session(scene, ten);
    const beside = await sessions(ROUNDS, (round) => {
      scene.touchHundred(ROUNDS + round);
      return session(scene, 'true');
    });
    discard();
    return { edited: edited.start, exitTen: edited.exit, beside: beside.start };
  },
  async thousand({ scene }) {
    const script = 'mkdir new; for i in $(seq 1000); do echo $i > new/$i; done';
    return { exitThousand: (await sessions(ROUNDS, () => session(scene, script))).exit };
  },
  async ignored({ scene }) {
    const script = 'mkdir out; cd out; seq 50000 | xargs touch';
    return { exitIgnored: (await sessions(ROUNDS, () => session(scene, script))).exit };
  },
  async volume(bench) {
    const upload = await sessions(1, () => {
      forget(bench);
      return session(bench.scene, 'true', 'volume');
    });
    const again = await sessions(ROUNDS, (round) => {
      bench.scene.touchHundred(100 + round);
      return session(bench.scene, 'true', 'volume');
    });
    removeVolumes(bench.dir);
    return { upload: upload.start, uploadAgain: again.start };
  },
};

const ASKED = process.env['RUN_CLAUDE_BENCH_PARTS']?.split(',') ?? Object.keys(PARTS);

/** @param {string} dir */
function removeVolumes(dir) {
  const named = ['volume', 'ls', '-q', '--filter', 'name=run-claude-base-'];
  for (const name of execFileSync('docker', named, { encoding: 'utf8' }).split('\n').filter(Boolean)) {
    const own = path.join(dir, 'cache', 'run-claude', 'bases', name.replace('run-claude-base-', ''));
    if (existsSync(own)) quiet('/', 'docker', 'volume', 'rm', '-f', name);
  }
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
  const bench = { scene: prepareTree(tree, dir), dir, image, shares: tree.disk !== undefined };
  const kept = path.join(dir, 'measured.json');
  /** @type {Record<string, number>} */
  const known = existsSync(kept) ? JSON.parse(readFileSync(kept, 'utf8')) : {};
  for (const [name, measure] of Object.entries(PARTS)) {
    if (!ASKED.includes(name)) continue;
    Object.assign(known, await measure(bench));
    writeFileSync(kept, JSON.stringify(known));
  }
  const { scene } = bench;
  /** @param {string} name */
  const ms = (name) => known[name] ?? Number.NaN;

  // What a start with something to copy may take; a first one that and a share of a plain copy.
  const allowed = ms('plain') + ms('status') + 600;
  const share = bench.shares ? 0.15 : tree.bytes < 10_000 ? 1.1 : 0.7;
  const where = tree.disk === undefined ? '' : `, on ${tree.disk}`;
  process.stdout.write(`\n${scene.says}${where}; median of ${ROUNDS}\n\n`);
  /** @type {Row[]} */
  const rows = [
    ['--help, beyond node -e 0', ms('help') - ms('node'), '0.1 s', 100],
    ['sessions, beyond node -e 0', ms('listed') - ms('node'), '0.1 s', 100],
    ['first start', ms('first'), 'cp -a', ms('cp')],
    ['first start', ms('first'), `${share} of cp -a, docker run, git status, 0.6 s`, share * ms('cp') + allowed],
    ['first start', ms('first'), 'cp -a --reflink=always', ms('reflink')],
    ['first start', ms('first'), 'rsync -a', ms('rsync')],
    ['first start', ms('first'), 'git clone --local', ms('clone')],
    ['first start', ms('first'), 'git worktree add', ms('worktree')],
    ['first start', ms('first'), 'docker cp', ms('dockerCp')],
    ['first start', ms('first'), 'tar \\| docker cp -', ms('tarCp')],
    ['later start', ms('later'), 'docker run --rm IMAGE true', ms('plain')],
    ['later start', ms('later'), 'git status', ms('status')],
    ['later start', ms('later'), 'srt true', ms('srt')],
    ['later start, in turn', ms('later'), 'docker run, git status, 0.35 s', ms('laterBeside')],
    ['later start, fastest', ms('laterFastest'), 'docker run, git status, 0.35 s', ms('laterFastestBeside')],
    ['bind mode: start, in turn', ms('bind'), 'later start on a copy', ms('bindCopied')],
    ['bind mode: start, in turn', ms('bind'), 'docker run -v PROJECT, git status', ms('bindPlain')],
    ['bind mode: exit, nothing changed', ms('exitBind'), 'exit on a copy', ms('exitBindCopied')],
    ['start after 100 host edits', ms('edited'), 'docker run, git status, 0.6 s', allowed],
    ['the same, another session waiting', ms('beside'), 'docker run, git status, 0.6 s', allowed],
    ['exit, nothing changed', ms('exitNothing'), '0.3 s', 300],
    ['exit, 10 files changed', ms('exitTen'), '0.3 s', 300],
    ['exit, 1,000 files changed', ms('exitThousand'), 'rsync -an --delete', ms('compare')],
    ['exit, 50,000 ignored files', ms('exitIgnored'), 'rsync -an --delete', ms('compare')],
    ['volume: first start', ms('upload'), 'tar \\| docker cp -', ms('tarCp')],
    ['volume: start after 100 host edits', ms('uploadAgain'), 'tar \\| docker cp -', ms('tarCp')],
  ];
  process.stdout.write('| run-claude | ms | next to | ms | ratio |\n|---|---:|---|---:|---:|\n');
  for (const [what, took, besides, besideMs] of rows) {
    if (Number.isNaN(took + besideMs)) continue;
    process.stdout.write(
      `| ${what} | ${took.toFixed(0)} | ${besides} | ${besideMs.toFixed(0)} | ${(took / besideMs).toFixed(2)} |\n`,
    );
  }
  /** @type {[string, number, string][]} */
  const sizes = [
    ['Peak memory of the command, first start', ms('firstMb'), 'MB'],
    ['Peak memory of the command, later start', ms('laterMb'), 'MB'],
    ['Disk that a further session takes before it writes', ms('second') / 1024, 'KB'],
    ['Disk that a session in bind mode takes', ms('bindKept') / 1024, 'KB'],
  ];
  process.stdout.write('\n');
  for (const [what, size, unit] of sizes)
    if (!Number.isNaN(size)) process.stdout.write(`${what}: ${size.toFixed(0)} ${unit}\n`);
}

const image = execFileSync(process.execPath, [ours, 'build'], { encoding: 'utf8' }).trim();
process.stdout.write(
  `${cpus().length} processors, ${(totalmem() / 1024 ** 3).toFixed(0)} GB of memory, kernel ${release()}, Node ${process.version}\n`,
);
for (const word of TREES) {
  const dir = KEPT === undefined ? mkdtempSync(path.join(tmpdir(), 'run-claude-bench-')) : path.join(KEPT, word);
  mkdirSync(dir, { recursive: true });
  try {
    await bench(word, image, dir);
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  } finally {
    if (KEPT === undefined) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}
