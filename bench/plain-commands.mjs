// The plain commands that a user would run instead of a session, timed on the same tree in the same run.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { main as ours, quiet } from './scene.mjs';
import { median } from './session.mjs';

/** Runs of each line of a table. */
export const ROUNDS = Number(process.env['RUN_CLAUDE_BENCH_ROUNDS'] ?? 3);
/** Short commands are run more often: their times vary more. */
const SHORT_ROUNDS = 9;

/** @typedef {{ scene: ReturnType<typeof import('./scene.mjs').prepareTree>, dir: string, image: string, shares: boolean }} Bench */

/**
 * Median milliseconds of a step; `before` is not counted. Writes of an earlier step are flushed first.
 * @param {() => void} step @param {() => void} before
 */
export function timed(step, before = () => {}, rounds = ROUNDS) {
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

/** What a user would run instead: copies of the tree. @param {Bench} bench */
export function copies({ scene: { project }, dir, shares }) {
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
  return { cp, compare, reflink, rsync, clone, worktree };
}

/** Commands that take no time to speak of. @param {Bench} bench */
export function short({ scene: { project, env }, dir, image }) {
  const installed = execFileSync('sh', ['-c', 'command -v srt || true'], { encoding: 'utf8' }) !== '';
  return {
    status: timedShort(() => quiet(project, 'git', 'status', '--short')),
    plain: timedShort(() => quiet(project, 'docker', 'run', '--rm', '--network', 'none', image, 'true')),
    srt: installed ? timedShort(() => quiet(project, 'srt', 'true')) : Number.NaN,
    node: timedShort(() => quiet(dir, process.execPath, '-e', '0')),
    help: timedShort(() => quiet(dir, process.execPath, ours, '--help')),
    listed: timedShort(() => execFileSync(process.execPath, [ours, 'sessions'], { env, stdio: 'ignore' })),
  };
}

/** Copies into a container. @param {Bench} bench */
export function boxes({ scene: { project }, image }) {
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
  return {
    dockerCp: inBox((box) => quiet(project, 'docker', 'cp', project, `${box}:/opt`)),
    tarCp: inBox((box) => quiet(project, 'sh', '-c', `tar -cf - . | docker cp - ${box}:/opt`)),
  };
}
