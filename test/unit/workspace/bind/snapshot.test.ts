import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { RunClaudeError } from '../../../../src/core/errors.ts';
import { readSnapshot, takeSnapshot } from '../../../../src/workspace/bind/snapshot.ts';

// What the release of that day wrote. It stays as it is: a change that makes it unreadable needs a migration.
const EARLIER = path.join(import.meta.dirname, 'fixtures/bind-2026-11-21.json');

/** The directory of a session whose snapshot is the earlier one, changed. */
function layDirectory(change: (stored: Record<string, unknown>) => unknown = (stored) => stored): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-snapshot-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  cpSync(EARLIER, path.join(dir, 'bind.json'));
  const changed = change(JSON.parse(readFileSync(EARLIER, 'utf8')));
  writeFileSync(path.join(dir, 'bind.json'), changed === undefined ? '{' : JSON.stringify(changed));
  return dir;
}

it('reads the snapshot that an earlier release wrote', () => {
  const snapshot = readSnapshot(layDirectory());
  expect(snapshot?.entries.get('sub/.git')).toMatchObject({ kind: 'symlink', ino: '262148' });
  expect([...(snapshot?.repositories ?? [])]).toEqual(['sub/.git']);
  expect(snapshot?.digests.get('Makefile')).toMatch(/^cc6c/);
  expect(snapshot?.targets.get('sub/.git')).toBe('../else');
  expect(snapshot?.unreadable.get('')).toBe('EACCES');
});

it('reads what it wrote, names that are not UTF-8 included', async () => {
  const dir = layDirectory();
  const root = path.join(dir, 'project');
  cpSync(path.dirname(EARLIER), root, { recursive: true });
  writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.of(0xff)]), 'x');
  const taken = await takeSnapshot({ root, sessionDir: dir, isShielded: false, isWatched: () => true });
  expect(taken.digests.size).toBe(2);
  expect(readSnapshot(dir)).toEqual(taken);
});

it('finds none in a session that has none', () => {
  const dir = layDirectory();
  rmSync(path.join(dir, 'bind.json'));
  expect(readSnapshot(dir)).toBeUndefined();
});

const outside = { entries: [['../x', {}]] };

it.each<[string, (stored: Record<string, unknown>) => unknown, string]>([
  ['that is not JSON', () => undefined, 'is not the JSON that was written there'],
  ['without its repositories', ({ repositories: _, ...stored }) => stored, 'repositories is missing'],
  [
    'with an entry outside the project',
    (stored) => ({ ...stored, ...outside }),
    'entries[0][0] is not a relative path',
  ],
  ['with half a pair', (stored) => ({ ...stored, targets: [['a']] }), 'targets[0] is not a pair'],
])('refuses a snapshot %s, and says what the user can do', (_title, change, reason) => {
  const dir = layDirectory(change);
  const read = () => readSnapshot(dir);
  expect(read).toThrow(reason);
  expect(read).toThrow(expect.objectContaining({ hint: expect.stringContaining('Run no git in the project') }));
  expect(read).toThrow(RunClaudeError);
});

it('refuses a snapshot that a newer release wrote', () => {
  const dir = layDirectory((stored) => ({ ...stored, version: 3 }));
  expect(() => readSnapshot(dir)).toThrow('was written by a newer release of run-claude');
});
