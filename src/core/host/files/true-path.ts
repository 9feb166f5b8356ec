import { type BigIntStats, lstatSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { namesIn } from './names-in.ts';

/**
 * The path without links, every part in the letter case and Unicode form that its folder lists. On file systems where
 * several names mean one entry, realpath(3) keeps the typed name on some platforms: one project would get two bases,
 * instances and locks.
 *
 * @throws what realpath(3) fails with
 */
export function truePath(named: string): string {
  let real = '/';
  for (const name of realpathSync.native(named).split('/')) {
    if (name !== '') real = path.join(real, trueName(real, name));
  }
  return real;
}

/** 'device:inode' of what a path leads to, or the path itself where nothing is there. For comparisons with its like. */
export function pathIdentity(named: string): string {
  try {
    return idOf(statSync(named, { bigint: true }));
  } catch {
    return named;
  }
}

function trueName(folder: string, name: string): string {
  const entry = lstatOf(path.join(folder, name));
  if (entry === undefined || !mayHaveAliases(folder, name, entry)) return name;
  const listed = namesIn(folder);
  if (listed.includes(name)) return name;
  const isSame = (other: string): boolean => {
    const stats = lstatOf(path.join(folder, other));
    return stats !== undefined && idOf(stats) === idOf(entry);
  };
  return listed.find((other) => fold(other) === fold(name) && isSame(other)) ?? name;
}

/** Listing a large folder takes long: it is listed only where another spelling leads to the same entry. */
function mayHaveAliases(folder: string, name: string, entry: BigIntStats): boolean {
  if (/[^ -~]/.test(name)) return true;
  const swapped = name.replace(/[a-z]/gi, (letter) =>
    /[a-z]/.test(letter) ? letter.toUpperCase() : letter.toLowerCase(),
  );
  if (swapped === name) return false;
  const other = lstatOf(path.join(folder, swapped));
  return other !== undefined && idOf(other) === idOf(entry);
}

function fold(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

function lstatOf(file: string): BigIntStats | undefined {
  try {
    return lstatSync(file, { bigint: true });
  } catch {
    return undefined;
  }
}

function idOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}
