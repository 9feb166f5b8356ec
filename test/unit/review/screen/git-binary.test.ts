import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { objectId, ZERO_ID } from '../../../../src/review/screen/diff/git-binary.ts';

// The body of a binary patch is tried with the real git in git-patch.test.ts.
it('names content as the real git does', () => {
  for (const hash of ['sha1', 'sha256'] as const) {
    const root = mkdtempSync(path.join(tmpdir(), 'run-claude-ids-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    execFileSync('git', ['init', '-q', `--object-format=${hash}`], { cwd: root });
    const bytes = randomBytes(5_000);
    const named = execFileSync('git', ['hash-object', '--stdin'], { cwd: root, input: bytes, encoding: 'utf8' }).trim();
    expect(objectId({ hash, size: bytes.length, pieces: () => [bytes.subarray(0, 7), bytes.subarray(7)] })).toBe(named);
    expect(ZERO_ID[hash]).toHaveLength(named.length);
  }
});
