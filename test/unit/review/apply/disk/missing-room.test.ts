import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { missingRoom } from '../../../../../src/review/apply/disk/host/missing-room.ts';
import type { Step } from '../../../../../src/review/apply/disk/steps/steps.ts';

/** Two directories: one on the disk of the machine, one on its own file system. */
function places(options: string): { readonly large: string; readonly small: string } {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-room-'));
  const [large, small] = [path.join(root, 'large'), path.join(root, 'small')];
  for (const dir of [large, small]) mkdirSync(dir);
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'run-claude-test', small]);
  onTestFinished(() => {
    execFileSync('umount', [small]);
    rmSync(root, { recursive: true });
  });
  return { large, small };
}

const MB = 2 ** 20;
const made = (size: number, count = 1): Step[] =>
  Array.from({ length: count }, (_, at) => {
    return { path: `f${at}`, post: { kind: 'file', mode: 0o644, digest: String(at), size } };
  });

it('says what an apply needs and what is free, on either disk', () => {
  const { large, small } = places('size=4m,nr_inodes=20');
  expect(missingRoom(small, large, made(MB, 2))).toBeUndefined();
  // The content, and a temporary copy of the largest file.
  expect(missingRoom(small, large, made(1.5 * MB, 2))).toBe(
    'not enough space on the disk of the project: 4.5 MB needed, 4.0 MB free',
  );
  expect(missingRoom(small, large, made(1, 40))).toBe(
    'not enough files on the disk of the project: 41 needed, 19 free',
  );
  expect(missingRoom(large, small, made(1.5 * MB, 40))).toBeUndefined();
  expect(missingRoom(large, small, made(1, 20_000))).toMatch(
    /^not enough space on the disk of the sessions: \d(\.\d)? MB needed, 4\.0 MB free$/,
  );
});
