import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { requestStop, whyStopped } from '../../../../src/session/record/events/stop-request.ts';

it('gives the reason of a stop once; on a full disk the session is stopped without it', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-stop-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'run-claude-test', dir]);
  onTestFinished(() => {
    execFileSync('umount', [dir]);
    rmSync(dir, { recursive: true });
  });
  requestStop(dir, 'its time is over');
  expect([whyStopped(dir), whyStopped(dir)]).toEqual(['its time is over', 'interrupted']);
  expect(() => writeFileSync(path.join(dir, 'filler'), Buffer.alloc(1 << 20))).toThrow('ENOSPC');
  expect(() => requestStop(dir)).not.toThrow();
  expect(whyStopped(dir)).toBe('interrupted');
});
