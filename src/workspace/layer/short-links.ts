import { randomInt } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { writeFileAtomic } from '../../core/store/record.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * Makes a private directory under /tmp with a link for each of `targets` (name of the link: absolute path), and gives its
 * path, which is as short as it can be. The path is recorded in `dir` before the directory is made, so that
 * {@link dropShortLinks} finds what a killed command left; directories that are recorded there already are removed.
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
    writeFileAtomic(recordFile(dir), links, { durable: false });
    try {
      mkdirSync(links, { mode: 0o700 });
      return links;
    } catch (error) {
      rmSync(recordFile(dir));
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || tries > 20) throw error;
    }
  }
}

/** Removes the links that are recorded in `dir`, if any. Precondition: no volume names them. */
export function dropShortLinks(dir: string): void {
  const links = recordedLinks(dir);
  if (links === undefined) return;
  if (/^\/tmp\/rc-[A-Za-z0-9]{6}$/.test(links)) {
    const stat = lstatSync(links, { throwIfNoEntry: false });
    if (stat?.isDirectory() === true && stat.uid === process.getuid?.())
      rmSync(links, { recursive: true, force: true });
  }
  rmSync(recordFile(dir), { force: true });
}

function recordFile(dir: string): string {
  return path.join(dir, 'links');
}

function recordedLinks(dir: string): string | undefined {
  try {
    return readFileSync(recordFile(dir), 'utf8');
  } catch (error) {
    // ENOTDIR: what is there is no layer.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
