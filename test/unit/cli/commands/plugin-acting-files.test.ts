import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { actingFiles } from '../../../../src/cli/commands/plugin/acting-files.ts';

it('finds what Claude Code obeys in each folder up to the top of the repository, and no further', () => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-acting-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const start = path.join(root, 'repo', 'a', 'b');
  mkdirSync(path.join(start, '.claude', 'agents'), { recursive: true });
  for (const folder of ['', 'repo', 'repo/a']) {
    mkdirSync(path.join(root, folder, '.claude', 'skills'), { recursive: true });
    writeFileSync(path.join(root, folder, '.mcp.json'), '{}');
  }
  expect(actingFiles(start, '/none')).toEqual(['.claude/agents']);
  mkdirSync(path.join(root, 'repo', '.git'));
  const all = ['.claude/agents', '../.claude/skills', '../.mcp.json', '../../.claude/skills', '../../.mcp.json'];
  expect(actingFiles(start, '/none')).toEqual(all);
  // The user's own files.
  expect(actingFiles(start, path.join(root, 'repo'))).toEqual(all.slice(0, 3));
  // A file where a folder would be.
  writeFileSync(path.join(root, 'repo', 'plain'), '');
  mkdirSync(path.join(root, 'repo', 'c'));
  writeFileSync(path.join(root, 'repo', 'c', '.claude'), '');
  expect(actingFiles(path.join(root, 'repo', 'c'), path.join(root, 'repo'))).toEqual([]);
});
