import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const script = path.resolve(import.meta.dirname, '../../../scripts/check.mjs');
let root = '';
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'check-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function check(scripts: Record<string, string>): { status: number | null; lines: readonly string[] } {
  writeFileSync(path.join(root, 'package.json'), JSON.stringify({ scripts }));
  const { status, stdout } = spawnSync(process.execPath, [script], { cwd: root, encoding: 'utf8' });
  return { status, lines: stdout.trim().replaceAll(/\d+ s/g, 'N s').split('\n') };
}

it('names the step that failed, and runs the ones after it', () => {
  expect(check({ 'check:a': 'true', 'check:b': 'exit 3', 'check:c': 'echo seen', test: 'exit 1' })).toEqual({
    status: 1,
    lines: [
      '[check] a: passed (N s)',
      '[check] b: FAILED (N s)',
      'seen',
      '[check] c: passed (N s)',
      '[check] Failed: npm run check:b',
    ],
  });
});

it('passes where every step does', () => {
  expect(check({ 'check:a': 'true' })).toEqual({ status: 0, lines: ['[check] a: passed (N s)'] });
});
