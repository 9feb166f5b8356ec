import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');

/** A file of vitest's report with one test. */
const fileOf = (name: string, seconds: number, test: object) => ({
  name: path.join(root, 'test', name),
  status: 'passed',
  message: '',
  startTime: 1000,
  endTime: 1000 + seconds * 1000,
  assertionResults: [{ status: 'passed', fullName: 'a test', failureMessages: [], ...test }],
});

it('counts the tests of all reports, and names what failed, what was skipped and what was slow', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-closing-line-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const reports = [
    [fileOf('a.test.ts', 3, {}), fileOf('b.test.ts', 90, { status: 'failed', failureMessages: ['expected 1'] })],
    [fileOf('c.test.ts', 12, { status: 'skipped', meta: { skipReason: 'no kernel' } })],
  ].map((testResults, at) => {
    const file = path.join(dir, `${at}.json`);
    writeFileSync(
      file,
      JSON.stringify({ numPassedTests: at === 0 ? 1 : 0, numFailedTests: at === 0 ? 1 : 0, testResults }),
    );
    return file;
  });
  const output = execFileSync(process.execPath, [path.join(root, 'scripts/closing-line.mjs'), ...reports]);
  expect(String(output).split('\n')).toEqual([
    '1 passed, 1 failed, 1 skipped',
    `failed: ${path.join(root, 'test/b.test.ts')}: a test`,
    'expected 1',
    'skipped: a test (no kernel)',
    'slow: 90 s test/b.test.ts',
    'slow: 12 s test/c.test.ts',
    'slow: 3 s test/a.test.ts',
    '',
  ]);
});
