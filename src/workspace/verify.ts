import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { type Row, readRows, rowsOf, sameRow } from './section.ts';
import { EVERYTHING } from './selection.ts';
import { countEntries, type Snapshot } from './snapshot.ts';
import { fsPath, type Walked, walkTree } from './walk.ts';

/**
 * Whether a base tree is still what was copied: the same entries, modes and sizes, and, where the project is unchanged,
 * the same content byte for byte.
 */
export async function isIntact(tree: string, snapshot: Snapshot, walked: Walked): Promise<boolean> {
  const found = await walkTree({ root: tree, selection: EVERYTHING, plain: true });
  if (found.leftOut.length > 0 || countEntries(found.snapshot) > countEntries(snapshot)) return false;
  for (const [dir, section] of snapshot) {
    const [here, now] = [readRows(found.snapshot.get(dir)), readRows(walked.snapshot.get(dir))];
    for (const row of rowsOf(section)) {
      const { name } = row;
      const where = dir === '' ? name : `${dir}/${name}`;
      const copy = here.get(name);
      const source = now.get(name);
      const unchanged = source !== undefined && sameRow(source, row);
      if (copy === undefined || !alike(copy, row)) return false;
      if (unchanged && !sameContent(row, `${tree}/${where}`, walked.sourceOf(where))) return false;
    }
  }
  return true;
}

function alike(copy: Row, row: Row): boolean {
  const kind = row.kind === 'm' || row.kind === 'g' ? 'f' : row.kind;
  if (copy.kind !== kind || (kind !== 'l' && copy.mode !== row.mode)) return false;
  if (Math.abs(copy.mtimeMs - row.mtimeMs) > 1) return false;
  return row.kind !== 'f' || copy.size === row.size;
}

function sameContent(row: Row, copy: string, source: string): boolean {
  if (row.kind === 'l') {
    const target = { encoding: 'buffer' } as const;
    return readlinkSync(fsPath(copy), target).equals(readlinkSync(fsPath(source), target));
  }
  if (row.kind === 'm') return lstatSync(fsPath(copy)).size === 0;
  if (row.kind !== 'f' || row.size > 2 ** 31 - 1) return true;
  return readFileSync(fsPath(copy)).equals(readFileSync(fsPath(source)));
}
