import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { syncFileSystem } from '../../../../src/core/store/flush.ts';
import { flushBase } from '../../../../src/workspace/base/generations/flush-base.ts';
import { refresh } from '../../../support/workspace/refresh-scene.ts';

let dir: string;
const before = process.env['PATH'];
beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-flush-'));
  // As on macOS: ignores its arguments, ends with 0, and waits for nothing.
  mkdirSync(path.join(dir, 'bin'));
  writeFileSync(path.join(dir, 'bin/sync'), `#!/bin/sh\necho called >> ${dir}/calls\n`);
  chmodSync(path.join(dir, 'bin/sync'), 0o755);
  process.env['PATH'] = `${dir}/bin:${before}`;
});
afterAll(() => {
  process.env['PATH'] = before;
  rmSync(dir, { recursive: true, force: true });
});

it('on macOS, whose sync does not wait, nothing counts as flushed by it', async () => {
  mkdirSync(path.join(dir, 'project'));
  writeFileSync(path.join(dir, 'project/file'), 'text');
  const base = await refresh(dir, 's1');
  flushBase(base.dir, 'darwin');
  expect(await syncFileSystem(dir, 'darwin')).toBe(false);
  // The same calls on Linux run the program and believe it.
  expect([existsSync(path.join(dir, 'calls')), existsSync(path.join(base.dir, 'synced'))]).toEqual([false, false]);
  flushBase(base.dir, 'linux');
  await vi.waitFor(() => expect(existsSync(path.join(base.dir, 'synced'))).toBe(true), 5_000);
  expect(await syncFileSystem(dir, 'linux')).toBe(true);
});
