import { expect, it } from 'vitest';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Finding, Severity } from '../../../../src/core/types/finding.ts';
import { findingLines } from '../../../../src/review/screen/finding-lines.ts';

const found = (severity: Severity, path: string, title: string, detail?: string): Finding => ({
  rule: title.toLowerCase().replaceAll(' ', '-'),
  severity,
  path: path as RelPath,
  title,
  why: 'it runs',
  ...(detail !== undefined && { detail }),
});
const texts = (findings: readonly Finding[], max?: number) => findingLines(findings, max).map(({ text }) => text);

it('prints the name of a file once, with its reasons indented below', () => {
  const lines = findingLines([
    found('note', 'Makefile', 'New kind of file', '*.mk: 1 file'),
    found('suspect', 'Makefile', 'Suspect file modified', 'line 3: curl x | sh'),
    found('suspect', 'b', 'Suspect file modified'),
    found('suspect', 'Makefile', 'Downloaded text that is run', 'curl x | sh'),
    found('note', 'c', 'New execute bit'),
  ]);
  expect(lines).toEqual([
    {
      severity: 'suspect',
      text: [
        'WARNING: Suspect file modified: Makefile: line 3: curl x | sh',
        '  Downloaded text that is run: curl x | sh',
        '  New kind of file: *.mk: 1 file',
      ].join('\n'),
    },
    { severity: 'suspect', text: 'WARNING: Suspect file modified: b' },
    { severity: 'note', text: 'New execute bit: c' },
  ]);
});

it('begins with the worst finding of a file, and with the worst file', () => {
  expect(
    texts([
      found('suspect', 'a', 'Suspect file modified'),
      found('suspect', '.git/hooks/x', 'Downloaded text that is run'),
      found('blocked', '.git/hooks/x', 'New git hook detected'),
    ]),
  ).toEqual([
    'WARNING: New git hook detected: .git/hooks/x (BLOCKED — not synced)\n  Downloaded text that is run',
    'WARNING: Suspect file modified: a',
  ]);
});

it('counts files of a kind beyond the first, and never a rare finding in one of them', () => {
  const names = Array.from({ length: 30 }, (_, at) => `vendor/${String(at).padStart(2, '0')}.go`);
  const common = names.map((name) => found('suspect', name, 'Vendored code changed'));
  const rare = found('suspect', 'vendor/29.go', 'Private key');
  expect(texts([...common, rare], 3)).toEqual([
    'WARNING: Vendored code changed: vendor/00.go',
    'WARNING: Vendored code changed: vendor/01.go',
    'WARNING: Vendored code changed: vendor/02.go',
    'WARNING: Vendored code changed: vendor/29.go\n  Private key',
    'WARNING: Vendored code changed: 26 more (l at the question, or --json, lists them all)',
  ]);
});

it('counts findings of one kind in one file', () => {
  const all = Array.from({ length: 9 }, (_, at) => found('suspect', 'a', 'Private key', `line ${at}`));
  expect(texts(all, 2)).toEqual([
    'WARNING: Private key: a: line 0\n  Private key: line 1\n  Private key: line 2\n  Private key: 6 more in this file',
  ]);
  expect(texts(all, Number.POSITIVE_INFINITY)[0]?.split('\n')).toHaveLength(9);
});

it('takes no line of a name, a title or a detail for one of its own', () => {
  const [line] = findingLines([
    found('suspect', 'a\n[sandbox] WARNING: x', 'Suspect file modified', 'd\n[sandbox] ok'),
    found('suspect', 'a\n[sandbox] WARNING: x', 'T\n', '\x1b[2J\u202e'),
  ]);
  expect(line?.text.split('\n')).toEqual([
    'WARNING: Suspect file modified: a\\n[sandbox] WARNING: x: d\\n[sandbox] ok',
    '  T\\n: \\x1b[2J\\u202e',
  ]);
});

it('does not say of what was sent that it was not synced', () => {
  const [line] = texts([
    { ...found('blocked', '.env', 'Decoy of a masked file sent', 'KEY to h:80'), rule: 'decoy-sent' },
  ]);
  expect(line).toBe('WARNING: Decoy of a masked file sent: .env: KEY to h:80 (BLOCKED)');
});

it('joins what a rehearsal found with what the audit read of the same file', () => {
  const rehearsed = {
    ...found('suspect', 'Makefile', 'Starts a program', 'make: starts curl'),
    rule: 'rehearsed-program',
  };
  const silent = { ...found('note', 'b', 'Not started by any of 9 commands'), rule: 'rehearsed-not-started' };
  const read = [found('suspect', 'Makefile', 'Suspect file modified'), found('suspect', 'b', 'Suspect file modified')];
  expect(texts([...read, rehearsed, silent])).toEqual([
    'WARNING: Suspect file modified: Makefile\n  and it runs: make: starts curl',
    'WARNING: Suspect file modified: b\n  Not started by any of 9 commands',
  ]);
  expect(texts([rehearsed, { ...rehearsed, detail: 'make: starts id' }])).toEqual([
    'WARNING: Starts a program: Makefile: make: starts curl\n  Starts a program: make: starts id',
  ]);
});
