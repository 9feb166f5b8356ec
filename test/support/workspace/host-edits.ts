import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';

/** An edit of the user's between two sessions. */
export interface Edit {
  readonly what: 'write' | 'write-unseen' | 'remove' | 'rename' | 'chmod' | 'link' | 'symlink';
  readonly a: string;
  readonly b: string;
}

const name = fc.constantFrom('a', 'b', 'keep/a', 'keep/b', 'x/y', 'x/y/z', 'q/r/s', '\udcff');
export const edit: fc.Arbitrary<Edit> = fc.record({
  what: fc.constantFrom('write', 'write-unseen', 'remove', 'rename', 'chmod', 'link', 'symlink'),
  a: name,
  b: name,
});

/** Other bytes, of the same size and with the same times, which Node itself cannot set exactly. */
function writeUnseen(file: string): void {
  const kept = path.join(mkdtempSync(path.join(tmpdir(), 'run-claude-times-')), 'times');
  execFileSync('touch', ['-r', file, kept]);
  writeFileSync(
    file,
    readFileSync(file).map((byte) => byte ^ 1),
  );
  execFileSync('touch', ['-r', kept, file]);
  rmSync(path.dirname(kept), { recursive: true });
}

/** An edit that the file system refuses (a directory where a file is, …) is skipped. */
export function applyEdit(project: string, { what, a, b }: Edit): void {
  const [one, two] = [path.join(project, a), path.join(project, b)];
  try {
    if (what === 'write') {
      mkdirSync(path.dirname(one), { recursive: true });
      writeFileSync(one, `${a}${b}`);
    }
    if (what === 'write-unseen' && lstatSync(one).isFile()) writeUnseen(one);
    if (what === 'remove') rmSync(one, { recursive: true });
    if (what === 'rename') renameSync(one, two);
    if (what === 'chmod') chmodSync(one, b.length % 2 === 0 ? 0o755 : 0o700);
    if (what === 'link') linkSync(one, two);
    if (what === 'symlink') symlinkSync(b, one);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
}
