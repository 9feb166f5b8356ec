import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { copyFiles } from '../../../../../src/workspace/base/refresh/copy-files.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-copy-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

it('stops at an interruption, with its reason, before everything is copied', async () => {
  const [from, tree] = [path.join(root, 'from'), path.join(root, 'tree')];
  for (const folder of [from, tree]) mkdirSync(folder);
  const jobs = Array.from({ length: 3_000 }, (_, n) => {
    const source = path.join(from, `f${n}`);
    writeFileSync(source, 'text');
    const { ino, dev, mode, size } = lstatSync(source);
    return { path: `f${n}`, source, ino, dev, mode, size };
  });
  const stop = new AbortController();
  const copying = copyFiles(jobs, {
    tree,
    owner: undefined,
    signal: stop.signal,
    progress: () => stop.abort(new Error('Ctrl-C')),
  });
  await expect(copying).rejects.toThrow('Ctrl-C');
  expect(readdirSync(tree).length).toBeLessThan(jobs.length);
});

it('hands slow copies to worker threads even for few files, because this thread has other work', async () => {
  const [source, tree] = [path.join(root, 'pack'), path.join(root, 'packed')];
  mkdirSync(tree);
  writeFileSync(source, Buffer.alloc(9 << 20, 1));
  const { ino, dev, mode, size } = lstatSync(source);
  const job = { path: 'copy', source, ino, dev, mode, size };
  const copying = copyFiles([job], { tree, owner: undefined, signal: undefined, progress: () => undefined });
  // A thread needs longer than nothing at all to start.
  expect(readdirSync(tree)).toEqual([]);
  expect(await copying).toEqual([]);
  expect(readFileSync(path.join(tree, 'copy')).equals(readFileSync(source))).toBe(true);
});
