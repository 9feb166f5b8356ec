import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../errors.ts';
import type { Differences } from '../scan/snapshot.ts';
import { makePrivateDir, writeFileAtomic } from '../store/record.ts';
import { genDir, removeTree, writeNonce } from './generation.ts';

// A stacked generation holds only what differs from a whole one beside it, on which sessions stand:
//   gen/N/over   the whole one's number     gen/N/tree   lies over that one's tree, by an overlay of the kernel's
// What the project has lost since is hidden by whiteouts, as in any upper directory.

/** Above these a copy of its own costs less: of a stacked one all is copied anew after every edit of the project. */
const MOST_ENTRIES = 2000;
const MOST_BYTES = 64 << 20;

/**
 * The number of the whole generation that this one is stacked on; undefined for a whole one.
 *
 * @throws {RunClaudeError} RECORD_DAMAGED when the file that names it holds no number
 */
export function stackedOn(gen: string): number | undefined {
  const file = path.join(gen, 'over');
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new RunClaudeError('RECORD_DAMAGED', `${file} names no generation`, {
    hint: 'Discard the sessions of this project, then remove the directory of this generation.',
  });
}

/** The directories that together are a generation, the winning one first. */
export function treesOf(gen: string): readonly string[] {
  const over = stackedOn(gen);
  const below = over === undefined ? [] : [path.join(path.dirname(gen), String(over), 'tree')];
  return [path.join(gen, 'tree'), ...below];
}

/** Whether they are few enough to be stacked. */
export function isLittle(differences: Differences): boolean {
  let [entries, bytes] = [0, 0];
  for (const { to } of differences) {
    entries += 1;
    bytes += to?.size ?? 0;
    if (entries > MOST_ENTRIES || bytes > MOST_BYTES) return false;
  }
  return true;
}

/** An empty generation over a whole one. False where this system lets us make no whiteout. */
export function openStacked(dir: string, number: number, over: number): boolean {
  const gen = genDir(dir, number);
  makePrivateDir(gen);
  emptyTree(gen);
  writeNonce(gen);
  writeFileAtomic(path.join(gen, 'over'), String(over), { durable: false });
  // A character device 0:0: Linux lets anybody make it since 5.8, macOS and older kernels do not.
  return spawnSync('mknod', [whiteoutOf(gen), 'c', '0', '0'], { stdio: 'ignore' }).status === 0;
}

/** To be linked where something of the generation below is to be hidden. */
export function whiteoutOf(gen: string): string {
  return path.join(gen, 'whiteout');
}

/** For another attempt. */
export function emptyTree(gen: string): void {
  removeTree(gen, 'tree');
  mkdirSync(path.join(gen, 'tree'), { mode: 0o700 });
}
