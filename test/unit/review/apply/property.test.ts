import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { propertyRun } from '../../../support/apply/property-run.ts';

it('leaves the host as an independent model predicts, and undo restores everything, for 1,000 random trees', async () => {
  const root = mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'run-claude-property-'));
  const umask = process.umask(0o022);
  let applied = 0;
  try {
    for (let seed = 0; seed < 1_000; seed += 25) applied += (await propertyRun(seed, 25, root)).applied;
  } finally {
    process.umask(umask);
    rmSync(root, { recursive: true, force: true });
  }
  // The runs must apply something: with conflicts everywhere the test would pass as well.
  expect(applied).toBeGreaterThan(1_500);
});
