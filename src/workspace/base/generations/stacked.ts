import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../../../core/errors.ts';
import { removeTreeSync } from '../../../core/host/files/remove-tree.ts';
import { spawnSync } from '../../../core/host/programs/start-program.ts';
import { makePrivateDir, writeFileAtomic } from '../../../core/store/record.ts';
import type { Differences } from '../../scan/snapshot.ts';
import { genDir, writeNonce } from './generation.ts';

// A stacked generation holds only what differs from a whole generation next to it, which sessions reference:
//   gen/N/over   the number of the whole generation
//   gen/N/tree   laid over the tree of the whole generation, by an overlay of the kernel
// Entries that the project no longer has are hidden by whiteouts, as in any upper directory.

/** Above these a whole copy costs less: all of a stacked generation is copied anew after every edit of the project. */
const MAX_ENTRIES = 2000;
const MAX_BYTES = 64 << 20;

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

/** Whether the differences are few enough to be stacked. */
export function isLittle(differences: Differences): boolean {
  let [entries, bytes] = [0, 0];
  for (const { to } of differences) {
    entries += 1;
    bytes += to?.size ?? 0;
    if (entries > MAX_ENTRIES || bytes > MAX_BYTES) return false;
  }
  return true;
}

/** Makes an empty generation over a whole one. False where this process may not make a whiteout. */
export function openStacked(dir: string, number: number, over: number): boolean {
  const gen = genDir(dir, number);
  makePrivateDir(gen);
  emptyTree(gen);
  writeNonce(gen);
  writeFileAtomic(path.join(gen, 'over'), String(over), { durable: false });
  // A character device 0:0: every process may make it since Linux 5.8, but not on macOS and older kernels.
  return spawnSync('mknod', [whiteoutOf(gen), 'c', '0', '0'], { cwd: '/', stdio: 'ignore' }).status === 0;
}

/** The whiteout that is hard-linked wherever an entry of the generation below is to be hidden. */
export function whiteoutOf(gen: string): string {
  return path.join(gen, 'whiteout');
}

/** Empties the tree for another attempt. */
export function emptyTree(gen: string): void {
  const tree = path.join(gen, 'tree');
  removeTreeSync(tree);
  mkdirSync(tree, { mode: 0o700 });
}
