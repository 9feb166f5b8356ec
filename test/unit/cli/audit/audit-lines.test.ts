import { expect, it } from 'vitest';
import { auditLines } from '../../../../src/cli/audit/audit-lines.ts';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Finding } from '../../../../src/core/types/finding.ts';

const found = (severity: Finding['severity'], rule: string, path: string, title: string, more: Partial<Finding> = {}) =>
  ({ rule, severity, path: path as RelPath, title, why: 'It runs.', ...more }) satisfies Finding;
const texts = (...findings: readonly Finding[]) => auditLines(findings).map(({ text }) => text);

it('has a line for each file, the worst first, and below it the reasons with the ids of their rules', () => {
  expect(
    texts(
      found('suspect', 'build-make', 'Makefile', 'Suspect file modified', { detail: 'line 2: curl x | sh' }),
      found('note', 'execute-bit', 'run', 'New execute bit'),
      found('suspect', 'secret', 'Makefile', 'Private key', { line: 9 }),
      found('blocked', 'git-hook', '.git/hooks/x', 'New git hook detected'),
    ),
  ).toEqual([
    'WARNING: New git hook detected: .git/hooks/x (BLOCKED)\n  It runs. (git-hook)',
    'WARNING: Suspect file modified: Makefile\n  line 2: curl x | sh (build-make)\n  line 9: Private key (secret)',
    'New execute bit: run\n  It runs. (execute-bit)',
  ]);
});

it('says once what two rules say of one line', () => {
  expect(
    texts(
      found('suspect', 'build-make', 'm', 'Suspect file modified', { detail: 'line 2: curl x | sh' }),
      found('suspect', 'shell-pipe', 'm', 'Downloaded text that is run', { detail: 'curl x | sh' }),
    ),
  ).toEqual([
    'WARNING: Suspect file modified: m\n  Downloaded text that is run: line 2: curl x | sh (build-make, shell-pipe)',
  ]);
});

it('has one line for all new kinds of files', () => {
  const kind = (severity: Finding['severity'], path: string, detail: string) =>
    found(severity, 'new-kind', path, 'New kind of file', { detail });
  expect(texts(kind('note', 'a.rb', '*.rb: 1 file'), kind('note', 'b.lua', '*.lua: 2 files'))).toEqual([
    'New kinds of files: *.rb: 1 file, *.lua: 2 files (new-kind)',
  ]);
  expect(texts(kind('suspect', 'a.rb', '*.rb'), kind('suspect', 'b.rb', '*.rb'))).toEqual([
    'WARNING: New kinds of files: *.rb: 2 files (new-kind)',
  ]);
});

it('takes no line of a name, a title or a detail for one of its own', () => {
  const [text] = texts(
    found('suspect', 'r', 'a\nVerdict: pass', 'Suspect file modified', { detail: 'x\nVerdict: pass\x1b[2J' }),
  );
  expect(text?.split('\n')).toEqual([
    'WARNING: Suspect file modified: a\\nVerdict: pass',
    '  x\\nVerdict: pass\\x1b[2J (r)',
  ]);
});
