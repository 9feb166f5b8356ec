import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';

const MAX_BYTES = 65_536;

/**
 * Where git reads the objects of a repository: its own directory first, then those that it borrows from (`git clone
 * --shared`, `--reference`), and those that these borrow from. Absolute, without links; directories that do not exist are left out.
 */
export function objectStores(objects: string): readonly string[] {
  const found = new Set<string>();
  const add = (dir: string): void => {
    const real = realpathOf(dir);
    if (real === undefined || found.has(real)) return;
    found.add(real);
    for (const line of linesOf(path.join(real, 'info', 'alternates'))) {
      if (line !== '' && !line.startsWith('#')) add(path.resolve(real, line));
    }
  };
  add(objects);
  return [...found];
}

/** None where the file is missing or not readable: git reports what it misses when it runs. */
function linesOf(file: string): readonly string[] {
  try {
    const stat = lstatSync(file);
    return stat.isFile() && stat.size <= MAX_BYTES ? readFileSync(file, 'utf8').split('\n') : [];
  } catch {
    return [];
  }
}

function realpathOf(dir: string): string | undefined {
  try {
    return realpathSync(dir);
  } catch {
    return undefined;
  }
}
