import { expect, it } from 'vitest';
import { runLooks } from '../../../src/audit/general-rules/run-looks.ts';
import type { AuditInput } from '../../../src/audit/input.ts';
import { sceneOf } from '../../../src/audit/input.ts';
import type { Change } from '../../../src/core/types/entry.ts';

/** A project of 30 files, one of them executable. */
const PROJECT = [
  ...Array.from({ length: 10 }, (_, n) => `src/a${n}.ts`),
  ...Array.from({ length: 10 }, (_, n) => `docs/page${n}.md`),
  ...Array.from({ length: 5 }, (_, n) => `scripts/s${n}.sh`),
  'Makefile',
  '.github/x.yml',
  'package.json',
  'lib/one.py',
  'lib/two.py',
];

const created = (path: string, mode = 0o644, more: Partial<Change> = {}): Change =>
  ({ path, kind: 'created', after: { kind: 'file', mode, size: 1, mtimeNs: '0', digest: path }, ...more }) as Change;

function kinds(changes: readonly Change[], more: Partial<AuditInput> = {}, paths = PROJECT): string[] {
  const base = { paths, read: () => undefined, executables: new Set(['scripts/s0.sh']) };
  const input: AuditInput = { changes, content: () => Buffer.from('x'), base, ...more };
  return runLooks('together', '.', sceneOf(input), () => [])
    .filter(({ rule }) => rule === 'new-kind')
    .map(({ severity, path, detail }) => `${severity} ${path}: ${detail}`);
}

it.each([
  ['an ending', created('src/a.mdx'), '*.mdx: 1 file'],
  ['a name without an ending', created('src/Justfile'), 'justfile: 1 file'],
  ['a hidden folder', created('src/.tool/a.ts'), '.tool/: 1 file'],
  ['a hidden file', created('.toolrc'), '.toolrc: 1 file'],
  ['an ending in its folder', created('docs/run.sh'), '*.sh in docs: 1 file'],
  ['an executable file in its folder', created('docs/x.md', 0o755), 'executable files in docs: 1 file'],
  ['an executable file at the top', created('x.sh', 0o755), 'executable files in the top of the project: 1 file'],
])('names the first file of a kind: %s', (_, change, detail) => {
  expect(kinds([change])).toEqual([`note ${change.path}: ${detail}`]);
});

it.each([
  ['text', created('one.txt')],
  ['a table', created('src/a.csv')],
  ['a picture', created('docs/a.png')],
  ['text next to text of another ending', created('src/notes.md')],
  ['a known ending in a folder without one, of a file that nothing runs', created('docs/b.yml')],
])('is silent about a kind that people read, and holds it back where nobody looks: %s', (_, change) => {
  const paths = [...PROJECT, ...Array.from({ length: 3 }, (__, n) => `.github/${n}.yml`)];
  expect(kinds([change], {}, paths)).toEqual([]);
  expect(kinds([change], { newKinds: 'ask' }, paths)).toEqual([expect.stringMatching(/^suspect /)]);
});

it('names a text file that begins as a program does, and only files that may run', () => {
  const content = (digest: string) => Buffer.from(digest === 'b.txt' ? '#!/bin/sh\n' : 'x');
  expect(kinds([created('a.txt'), created('b.txt')], { content })).toEqual(['note b.txt: *.txt: 1 file']);
  expect(kinds([created('a.txt'), created('c.txt', 0o755)])).toEqual(['note c.txt: *.txt: 1 file']);
});

it.each([
  ['of a known ending in its folder', created('src/b.ts')],
  ['of a known ending in a new folder', created('src/new/b.ts')],
  ['of a known ending in a folder with few files', created('lib/x.sh')],
  ['executable next to others that are', created('scripts/t.sh', 0o755)],
  ['of a known name in other letters', created('src/makefile')],
  ['of a known ending in other letters', created('src/B.TS')],
  ['that is ignored', created('src/a.mdx', 0o644, { ignored: true })],
  ['in git’s directory', created('.git/a.mdx')],
  ['that was there', created('src/a.mdx', 0o644, { kind: 'modified' })],
])('says nothing of a file %s', (_, change) => {
  expect(kinds([change])).toEqual([]);
});

it('has one line for a kind, and one finding for each file where nobody looks', () => {
  const changes = [created('a.mdx'), created('b.mdx'), created('src/c.mdx'), created('d.rs')];
  expect(kinds(changes)).toEqual(['note a.mdx: *.mdx: 3 files', 'note d.rs: *.rs: 1 file']);
  expect(kinds(changes, { newKinds: 'ask' })).toEqual([
    'suspect a.mdx: *.mdx',
    'suspect b.mdx: *.mdx',
    'suspect src/c.mdx: *.mdx',
    'suspect d.rs: *.rs',
  ]);
});

it('has no kinds in a project with few files, and none without the project', () => {
  expect(kinds([created('a.mdx')], {}, PROJECT.slice(0, 15))).toEqual([]);
  const input: AuditInput = { changes: [created('a.mdx')], content: () => undefined };
  expect(runLooks('together', '.', sceneOf(input), () => [])).toEqual([]);
});

it('does not take a folder of the project for a file', () => {
  const folders = [
    'src',
    'docs',
    'docs/images.d',
    'scripts',
    'docs/images.d/a.md',
    'src/Justfile',
    'src/Justfile/a.ts',
  ];
  expect(kinds([created('x.d'), created('Justfile')], {}, [...PROJECT, ...folders])).toEqual([
    'note x.d: *.d: 1 file',
    'note Justfile: justfile: 1 file',
  ]);
});
