import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { auditCommand } from '../../../../src/cli/commands/review/audit.ts';
import { diffCommand } from '../../../../src/cli/commands/review/diff.ts';
import { sessionsCommand } from '../../../../src/cli/commands/sessions.ts';
import { statusCommand } from '../../../../src/cli/commands/status.ts';
import type { CommandContext, CommandRun } from '../../../../src/cli/context/context.ts';
import type { Finding } from '../../../../src/core/types/finding.ts';
import type { Review, ReviewItem } from '../../../../src/core/types/review.ts';
import { findingsInPlace, shownLines, whereInPlaceLines } from '../../../../src/session/end/report/shown-review.ts';
import { recordSessions } from '../../../support/session-fixture.ts';
import { sessionRecord } from '../../../support/session-record.ts';

const ID = '261121-140512-k7p';
const FINDING = {
  rule: 'make',
  severity: 'blocked',
  path: 'Makefile',
  title: 'Suspect file modified',
  why: 'Make runs the file',
  detail: 'it downloads a script',
} as const;
const REPORT = {
  version: 1,
  tool: { name: 'run-claude', version: '0.1.0' },
  kind: 'session',
  project: '/p',
  exitStatus: 0,
  counts: { created: 2, modified: 1, deleted: 1, mode: 0, type: 0, renamed: 1 },
  severities: { blocked: 1, suspect: 0, note: 0 },
  changes: [
    { path: 'Makefile', kind: 'modified', state: 'blocked' },
    { path: 'made\u001b[2J.txt', kind: 'created', state: 'clean' },
    { path: 'new.txt', kind: 'created', state: 'clean', renamedFrom: 'old.txt', similarity: 100 },
    { path: 'old.txt', kind: 'deleted', state: 'clean' },
    { path: '.git/index', kind: 'modified', state: 'git' },
  ],
  findings: [FINDING],
  rules: [],
  problems: [],
  withheld: [],
};

/** What a command prints of a bind session that ended so, on stdout and as messages. */
async function printed(
  command: CommandRun,
  options: readonly string[] = [],
  words: readonly string[] = [ID],
  report: object = REPORT,
) {
  const state = recordSessions([
    { id: ID, stage: 'applied', started: '2026-11-21T14:05:12.000Z', mode: 'bind', project: process.cwd() },
  ]);
  writeFileSync(path.join(state, 'sessions', ID, 'report.json'), JSON.stringify(report));
  const [out, told]: [string[], string[]] = [[], []];
  const context = {
    cwd: process.cwd(),
    env: {},
    places: { stateDir: state, cacheDir: state, dataDir: state },
    interruption: { signal: new AbortController().signal },
    tell: (event: { readonly text: string }) => void told.push(event.text),
    write: (text: string) => void out.push(text),
  } as unknown as CommandContext;
  const named = options.map((name) => [name, ['']] as const);
  const line = { kind: 'command', name: '', options: new Map(named), words, rest: [] } as const;
  const status = await command(line as never, context);
  return { out: out.join(''), told, status };
}

describe('a bind session, whose changes are in the project already', () => {
  it('has one count in status, its JSON, sessions and diff', async () => {
    const { out } = await printed(statusCommand);
    expect(out).toContain('in place');
    expect(out).toContain('3 files changed in the project\n');
    expect(out).toContain('WARNING: Suspect file modified: Makefile: it downloads a script (it is in your project)\n');
    expect(out).toContain('The changes are in the project already');
    expect(out).not.toContain('No files changed');
    const data = JSON.parse((await printed(statusCommand, ['json'])).out);
    expect(data.files).toMatchObject({ total: 3, applied: 3, left: 0 });
    expect(data.changes.map(({ path: name }: { path: string }) => name)).toContain('Makefile');
    expect((await printed(sessionsCommand, [], [])).out).toContain('3 files, 1 blocked');
    const names = await printed(diffCommand, ['name-only']);
    expect(names.out).toBe('Makefile\nmade\\x1b[2J.txt\nnew.txt\n');
    expect((await printed(diffCommand, ['stat'])).out).toContain('renamed   new.txt\n');
  });

  it('has nothing for a reader of patches: diff says where to look', async () => {
    const { out, told } = await printed(diffCommand);
    expect(out).toBe('');
    expect(told.join()).toContain('The changes are in the project already');
  });

  it('that changed ignored files only says so wherever its end did', async () => {
    const counts = { created: 0, modified: 0, deleted: 0, mode: 0, type: 0, renamed: 0 };
    const withheld = Array.from({ length: 13 }, (_, at) => ({ directory: `out${at}`, entries: at + 1, bytes: 0 }));
    const report = { ...REPORT, changes: [], findings: [], counts, withheld };
    for (const command of [statusCommand, diffCommand]) {
      const { out, told } = await printed(command, [], [ID], report);
      const text = [out, ...told].join('\n');
      expect(text).toContain('Only ignored files changed');
      expect(text).toContain('not audited: out0 (ignored, 1 entry changed)');
      expect(text).toContain('not audited: 3 more ignored names');
      expect(text).not.toContain('No files changed');
    }
  });

  it('has its findings in audit, and its status', async () => {
    expect(await printed(auditCommand)).toMatchObject({ out: expect.stringContaining('Makefile: it downloads') });
  });
});

it("says of Claude's data what is still to bring back, and what was brought", () => {
  const item = (name: string) => ({
    change: { path: `~/.claude/${name}`, kind: 'created' },
    state: 'clean',
    findings: [],
  });
  const claude = { items: [item('history.jsonl'), item('plans/x.md')], general: [], dropped: {} };
  const review = {
    items: [],
    decisions: [],
    general: [],
    problems: [],
    withheld: [],
    counts: { created: 0, modified: 0, deleted: 0, mode: 0, type: 0, renamed: 0 },
    claude,
  } as unknown as Review;
  const lines = (applied: readonly string[]): string[] => {
    const back = applied.map((name) => ({ path: name, verdict: 'applied' as const }));
    const outcome = { at: '', changes: [], claude: back };
    return shownLines(sessionRecord({ outcome }), review).map(({ text }) => text);
  };
  expect(lines([])).toContain("Claude's data: 2 files to bring back");
  expect(lines(['history.jsonl'])).toEqual(
    expect.arrayContaining([
      "Claude's data: 1 file to bring back",
      "Claude's data: 1 file brought back for this project.",
    ]),
  );
  expect(lines(['history.jsonl', 'plans/x.md']).join()).not.toContain('to bring back');
});

it('the commands that show the changes of a bind session work for a path with blanks, and for new files', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude in place-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const git = (...words: string[]): string => execFileSync('git', words, { cwd: dir, encoding: 'utf8' });
  git('init', '-q');
  writeFileSync(path.join(dir, 'old.txt'), 'before\n');
  git('add', '.');
  git('-c', 'user.name=P', '-c', 'user.email=p@example.org', 'commit', '-qm', 'first');
  writeFileSync(path.join(dir, 'old.txt'), 'after\n');
  writeFileSync(path.join(dir, 'new.txt'), 'new\n');
  const record = { ...sessionRecord({ plan: { project: { git: 'directory' } } }), project: dir };
  const item = (name: string, kind: string) =>
    ({ change: { path: name, kind }, state: 'normal' }) as unknown as ReviewItem;
  const commands = (...items: ReviewItem[]): string[] =>
    whereInPlaceLines(record, { items }).map((line) => line.slice(line.indexOf('git -C')));
  const run = (command: string | undefined): string =>
    execFileSync('sh', ['-c', command ?? 'false'], { encoding: 'utf8' });

  expect(commands(item('old.txt', 'modified'))).toHaveLength(1);
  const [diff, first] = commands(item('old.txt', 'modified'), item('new.txt', 'created'));
  expect(run(diff)).not.toContain('+new');
  run(first);
  expect(run(diff)).toMatch(/\+new\n(.*\n)*\+after\n/);
});

it('a path that ends like a line of a blocked finding is shown as it is, in a bind session', () => {
  const path = 'x (BLOCKED — not synced)' as Finding['path'];
  const [line] = findingsInPlace([{ ...FINDING, path }]);
  expect(line?.text).toBe(`WARNING: Suspect file modified: ${path}: it downloads a script (it is in your project)`);
});

it('what a bind session sent is not in the project', () => {
  const path = '.env' as Finding['path'];
  const [line] = findingsInPlace([{ ...FINDING, path, rule: 'decoy-sent', severity: 'blocked' }]);
  expect(line?.text).toMatch(/ \(BLOCKED\)$/);
});
