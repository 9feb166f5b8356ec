import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditChanges } from '../../../../src/audit/audit.ts';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Change } from '../../../../src/core/types/entry.ts';
import type { Review } from '../../../../src/core/types/review.ts';
import { buildReview } from '../../../../src/review/choices/build-review.ts';
import { findingsOf } from '../../../../src/review/choices/findings.ts';
import { newRepositories, oncePerRepository } from '../../../../src/review/choices/new-repositories.ts';
import { summaryLines } from '../../../../src/review/screen/summary.ts';

let project: string;
beforeAll(() => {
  project = mkdtempSync(path.join(tmpdir(), 'new-repositories-'));
});
afterAll(() => rmSync(project, { recursive: true }));

const git = (...words: string[]): void => {
  const env = { PATH: process.env['PATH'], HOME: project, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  execFileSync('git', words, { cwd: project, env, stdio: 'pipe' });
};

/** What the summary says of everything below a folder, as made by a session. */
function linesOf(...folders: string[]): string[] {
  return summaryLines(reviewOf(...folders)).map(({ text }) => text);
}

function reviewOf(...folders: string[]): Review {
  const contents = new Map<string, Buffer>();
  const changes: Change[] = [];
  const take = (at: string): void => {
    const place = path.join(project, at);
    const { mode } = statSync(place);
    const inGit = /(^|\/)\.git(\/|$)/.test(at) ? { inGit: true } : {};
    const entry = { mode: mode & 0o777, size: 0, mtimeNs: '0' };
    if (statSync(place).isDirectory()) {
      changes.push({ path: at as RelPath, kind: 'created', after: { ...entry, kind: 'dir' }, ...inGit });
      for (const name of readdirSync(place).sort()) take(`${at}/${name}`);
      return;
    }
    const content = readFileSync(place);
    contents.set(at, content);
    const after = { ...entry, kind: 'file' as const, size: content.length, digest: at };
    changes.push({ path: at as RelPath, kind: 'created', after, ...inGit });
  };
  for (const folder of folders) take(folder);
  const findings = auditChanges({ changes, content: (digest) => contents.get(digest) });
  const collected = { changes, problems: [], withheld: [], baseEntries: 1 };
  return buildReview({ collected, findings, allowSuspect: [], includeIgnored: false });
}

describe('a repository that the session made', () => {
  it('is one line: an init, a clone with what it names, and a bare one', () => {
    git('init', '-q', 'plain');
    expect(linesOf('plain')).toEqual([
      'No files changed',
      'WARNING: New nested repository: plain/.git (BLOCKED — not synced)',
    ]);
    git('-c', 'user.name=P', '-c', 'user.email=p@h', '-C', 'plain', 'commit', '-q', '--allow-empty', '-m', 'x');
    git('clone', '-q', 'plain', 'copy');
    git('-C', 'copy', 'remote', 'add', 'up', 'https://example.org/x.git');
    execFileSync('sh', ['-c', 'echo text > copy/a.txt'], { cwd: project });
    expect(linesOf('copy').slice(0, 2)).toEqual([
      '1 file created',
      'WARNING: New nested repository: copy/.git: 1 file comes without it (BLOCKED — not synced)',
    ]);
    expect(linesOf('copy').filter((line) => line.includes('copy/.git'))).toHaveLength(1);
    git('clone', '-q', '--bare', 'plain', 'bare.git');
    expect(linesOf('bare.git').filter((line) => line.includes('WARNING'))).toEqual([
      expect.stringMatching(/^WARNING: New bare repository: bare\.git: [0-9]+ entries \(BLOCKED — not synced\)$/),
    ]);
  });

  it('still names what would run a program in it', () => {
    git('init', '-q', 'evil');
    git('-C', 'evil', 'config', 'core.fsmonitor', 'touch /tmp/x');
    git('-C', 'evil', 'config', 'remote.o.url', 'ext::sh -c x');
    execFileSync('sh', ['-c', 'echo x > evil/.git/hooks/pre-commit; chmod +x evil/.git/hooks/pre-commit'], {
      cwd: project,
    });
    const lines = linesOf('evil').join('\n');
    expect(lines).toContain('WARNING: New git hook detected: evil/.git/hooks/pre-commit');
    expect(lines).toContain('core.fsmonitor = touch /tmp/x (BLOCKED');
    expect(lines).toContain('remote.o.url = ext::sh -c x');
    // The files of the git directory do not come.
    expect(lines).toContain('WARNING: New nested repository: evil/.git (BLOCKED');
  });

  it('says it of the project itself, and counts very many', () => {
    git('init', '-q', 'whole');
    const inner = path.join(project, 'whole');
    const before = project;
    project = inner;
    try {
      expect(linesOf('.git')).toEqual([
        'No files changed',
        'The session made a repository of the project: its .git stays in the session',
      ]);
      for (let at = 0; at < 12; at++) git('init', '-q', `r${at}`);
      const many = linesOf(...Array.from({ length: 12 }, (_, at) => `r${at}`));
      expect(many.at(-1)).toBe('WARNING: New repositories: 2 more (BLOCKED — not synced)');
      expect(many).toHaveLength(12);
    } finally {
      project = before;
    }
  });
});

it('a repository that the session made is one finding of a report, as it is one line on the screen', () => {
  git('init', '-q', 'reported');
  git('init', '-q', '--bare', 'reported-bare');
  const review = reviewOf('reported', 'reported-bare');
  const findings = findingsOf(review);
  expect(findings.length).toBeGreaterThan(10);
  const once = oncePerRepository(findings, newRepositories(review));
  expect(once.map(({ severity, rule }) => [severity, rule])).toEqual([
    ['blocked', expect.stringMatching(/^git-(nested|bare)$/)],
    ['blocked', expect.stringMatching(/^git-(nested|bare)$/)],
  ]);
});
