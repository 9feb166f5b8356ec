import { chmodSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';

/** What a person does to a project between two sessions. */
export interface Edit {
  readonly what: 'write' | 'remove' | 'rename' | 'chmod' | 'link' | 'symlink';
  readonly a: string;
  readonly b: string;
}

const name = fc.constantFrom('a', 'b', 'keep/a', 'keep/b', 'x/y', 'x/y/z', 'q/r/s', '\udcff');
export const edit: fc.Arbitrary<Edit> = fc.record({
  what: fc.constantFrom('write', 'remove', 'rename', 'chmod', 'link', 'symlink'),
  a: name,
  b: name,
});

/** What the file system refuses (a directory where a file is, …) is no edit. */
export function applyEdit(project: string, { what, a, b }: Edit): void {
  const [one, two] = [path.join(project, a), path.join(project, b)];
  try {
    if (what === 'write') {
      mkdirSync(path.dirname(one), { recursive: true });
      writeFileSync(one, `${a}${b}`);
    }
    if (what === 'remove') rmSync(one, { recursive: true });
    if (what === 'rename') renameSync(one, two);
    if (what === 'chmod') chmodSync(one, b.length % 2 === 0 ? 0o755 : 0o700);
    if (what === 'link') linkSync(one, two);
    if (what === 'symlink') symlinkSync(b, one);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
}
