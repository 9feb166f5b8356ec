import { randomInt } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { writeFileAtomic } from '../store/record.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * A private directory under /tmp with a link for each of `targets` (name of the link: absolute path). `dir`, of ours,
 * remembers where before it is made, so that {@link dropShortLinks} finds what a command left that was killed at any
 * moment; those that it remembers already are removed. Comes back: the directory, as short as its name can be.
 */
export function makeShortLinks(dir: string, targets: Readonly<Record<string, string>>): string {
  dropShortLinks(dir);
  const links = makeDirectory(dir);
  for (const [name, target] of Object.entries(targets)) symlinkSync(target, path.join(links, name));
  return links;
}

function makeDirectory(dir: string): string {
  for (let tries = 0; ; tries += 1) {
    const links = `/tmp/rc-${Array.from({ length: 6 }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`;
    writeFileAtomic(memory(dir), links, { durable: false });
    try {
      mkdirSync(links, { mode: 0o700 });
      return links;
    } catch (error) {
      rmSync(memory(dir));
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || tries > 20) throw error;
    }
  }
}

/** Removes the links that `dir` remembers, if any. Precondition: no volume names them any more. */
export function dropShortLinks(dir: string): void {
  const links = remembered(dir);
  if (links === undefined) return;
  if (/^\/tmp\/rc-[A-Za-z0-9]{6}$/.test(links)) {
    const stat = lstatSync(links, { throwIfNoEntry: false });
    if (stat?.isDirectory() === true && stat.uid === process.getuid?.())
      rmSync(links, { recursive: true, force: true });
  }
  rmSync(memory(dir), { force: true });
}

function memory(dir: string): string {
  return path.join(dir, 'links');
}

function remembered(dir: string): string | undefined {
  try {
    return readFileSync(memory(dir), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
