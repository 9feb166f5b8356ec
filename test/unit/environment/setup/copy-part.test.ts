import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { AGENT_HOME_PATHS } from '../../../../src/agents/agents.ts';
import { exclusions } from '../../../../src/environment/setup/copy-part.ts';

it('names what every agent keeps in its home', () => {
  expect(AGENT_HOME_PATHS).toEqual([
    '.claude',
    '.claude.json',
    '.codex',
    '.gemini',
    '.config/opencode',
    '.local/share/opencode',
    '.copilot',
    '.config/github-copilot',
  ]);
});

it('leaves agents out of the copied home, and only there', ({ skip }) => {
  skip(process.platform !== 'linux', 'the containers have GNU tar, and this machine another one');
  const home = mkdtempSync(path.join(tmpdir(), 'run-claude-part-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const files = [
    '.claude/plans/x.md',
    '.claude.json',
    '.config/opencode/a',
    '.config/other',
    'x/.claude/y',
    '.claude2',
  ];
  for (const file of files) {
    mkdirSync(path.dirname(path.join(home, file)), { recursive: true });
    writeFileSync(path.join(home, file), '');
  }
  const words = exclusions(AGENT_HOME_PATHS);
  const listed = execFileSync('bash', ['-c', 'tar -C "$0" -cf - "$@" . | tar -tf -', home, ...words], {
    encoding: 'utf8',
  });
  expect(
    listed
      .split('\n')
      .filter((line) => !line.endsWith('/'))
      .sort(),
  ).toEqual(['', './.claude2', './.config/other', './x/.claude/y'].sort());
});
