/** Where the lab keeps its guests and disks, and how it runs a program of the host. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

const CACHE = path.join(process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'), 'run-claude-lab');

/** @param {string} text */
export function log(text) {
  process.stderr.write(`[lab] ${new Date().toISOString().slice(11, 19)} ${text}\n`);
}

/**
 * A path below the lab's cache directory. Everything that the lab removes or overwrites is named by this function.
 * @param {readonly [string, ...string[]]} names
 */
export function inCache(...names) {
  const file = path.resolve(CACHE, ...names);
  if (!path.isAbsolute(CACHE) || !file.startsWith(`${CACHE}${path.sep}`))
    throw new Error(`${file} is not in the cache.`);
  return file;
}

/** A directory of the cache, made if it does not exist. @param {readonly [string, ...string[]]} names */
export function cacheDirectory(...names) {
  const dir = inCache(...names);
  mkdirSync(dir, { recursive: true });
  return dir;
}

/** Names in the cache directory. */
export function cacheEntries() {
  return existsSync(CACHE) ? readdirSync(CACHE) : [];
}

/** @param {readonly [string, ...string[]]} names */
export function removeFromCache(...names) {
  rmSync(inCache(...names), { recursive: true, force: true });
}

/**
 * Runs a shell script on the host; gives its output.
 * @param {string} script ends at its first failure and at an unset variable
 * @param {readonly string[]} words its `$1`, `$2`, …
 */
export function sh(script, words = []) {
  return execFileSync('sh', ['-euc', script, 'sh', ...words], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
