// node bench/caches.mjs [PROJECT]: `npm ci` in a session with the npm cache, and in the same session without it, one of each
// in turn; then the start of a session with the cache next to one without it. PROJECT has a package-lock.json; the default is
// this repository. Medians of RUN_CLAUDE_BENCH_ROUNDS (3) runs. Needs an engine and the registry of npm; options for
// run-claude, such as --allow-address, come after the project.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { environmentIn, main } from './scene.mjs';
import { median } from './session.mjs';

const ROUNDS = Number(process.env['RUN_CLAUDE_BENCH_ROUNDS'] ?? 3);
/** A registry that cannot be reached does not keep npm waiting for longer. */
const LIMIT = '10m';
const [source = path.dirname(import.meta.dirname), ...options] = process.argv.slice(2);

const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-bench-'));
const project = path.join(dir, 'project');
mkdirSync(project);
copyFileSync(path.join(source, 'package.json'), path.join(project, 'package.json'));
const lock = JSON.parse(readFileSync(path.join(source, 'package-lock.json'), 'utf8'));
// Where a lock file has no addresses, npm asks the registry for each, with a cache too.
for (const [at, one] of Object.entries(lock.packages)) {
  const name = one.name ?? at.replace(/^.*node_modules\//, '');
  if (at !== '' && one.link !== true)
    one.resolved ??= `https://registry.npmjs.org/${name}/-/${name.replace(/^.*\//, '')}-${one.version}.tgz`;
}
writeFileSync(path.join(project, 'package-lock.json'), JSON.stringify(lock));
const env = environmentIn(dir);

/** @param {string[]} more @param {string} script */
const session = (more, script) =>
  // A session that fails ends the script with what it printed: execFileSync throws it.
  execFileSync(
    process.execPath,
    [main, 'exec', '--timeout', LIMIT, ...options, ...more, project, '--', 'bash', '-c', script],
    {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
/** @param {() => void} step */
const timed = (step) => {
  const start = performance.now();
  step();
  return performance.now() - start;
};

/** Milliseconds of one installation, without what an earlier one left. `cache`: what becomes of npm's cache before. @param {string} cache */
const install = (cache) => `rm -rf /workspace/node_modules; ${cache}
s=$(date +%s%N); npm ci --ignore-scripts --no-audit --no-fund >/tmp/npm.log 2>&1 || { cat /tmp/npm.log >&2; exit 1; }; e=$(date +%s%N); echo $(((e-s)/1000000))`;

try {
  const filling = timed(() => session(['--cache', 'npm'], 'true'));
  const installs = Array.from(
    { length: ROUNDS },
    () => `${install('rm -rf ~/.npm/_cacache; cp -a ~/links ~/.npm/_cacache')}\n${install('rm -rf ~/.npm/_cacache')}`,
  );
  const printed = session(
    ['--cache', 'npm'],
    `cp -a ~/.npm/_cacache ~/links\n${installs.join('\n')}\nrm -rf /workspace/node_modules`,
  );
  const times = printed.trim().split('\n').map(Number);
  const warm = median(times.filter((_, at) => at % 2 === 0));
  const cold = median(times.filter((_, at) => at % 2 === 1));
  /** @type {Record<'with' | 'without', number[]>} */
  const starts = { with: [], without: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    starts.with.push(timed(() => session(['--cache', 'npm'], 'true')));
    starts.without.push(timed(() => session([], 'true')));
  }
  /** @param {number} ms */
  const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
  console.log(`npm ci, warm ${seconds(warm)}, cold ${seconds(cold)}: ${(warm / cold).toFixed(2)} of it`);
  console.log(`a session with the cache ${seconds(median(starts.with))}, without ${seconds(median(starts.without))}`);
  console.log(`the first session, which fills the cache ${seconds(filling)}`);
  execFileSync(process.execPath, [main, 'gc', '--yes'], { env, stdio: 'ignore' });
} finally {
  rmSync(dir, { recursive: true, force: true });
}
