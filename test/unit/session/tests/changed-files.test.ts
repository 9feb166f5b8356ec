import { expect, it } from 'vitest';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { ChangeKind } from '../../../../src/core/types/entry.ts';
import { type ChangedContext, changedFiles } from '../../../../src/session/tests/changed-files.ts';

const changed = (
  command: string,
  changes: Record<string, ChangeKind | 'ignored'>,
  more: Partial<ChangedContext> = {},
) =>
  changedFiles(command, {
    changes: Object.entries(changes).map(([path, kind]) => ({
      path: path as RelPath,
      kind: kind === 'ignored' ? 'modified' : kind,
      ignored: kind === 'ignored',
    })),
    withheld: [],
    startIn: '',
    scripts: [],
    isManifestChanged: () => true,
    ...more,
  });

it.each<[string, string, Record<string, ChangeKind | 'ignored'>, readonly string[]]>([
  ['source of the project', 'npm test', { 'src/a.js': 'modified', 'src/latest.js': 'created' }, []],
  ['a new test', 'pytest', { 'tests/test_b.py': 'created', 'src/b.test.ts': 'created' }, []],
  ['a test that was deleted', 'pytest', { 'tests/test_b.py': 'deleted' }, ['tests/test_b.py (deleted)']],
  ['a test that was modified', 'go test ./...', { 'pkg/a_test.go': 'modified' }, ['pkg/a_test.go']],
  ['a script that the command names', 'sh ./ci/all.sh --fast', { 'ci/all.sh': 'modified' }, ['ci/all.sh']],
  ['a new script that the command names', 'ci/all.sh', { 'ci/all.sh': 'created' }, ['ci/all.sh']],
  ['a file below a folder that it names', 'sh -c "run-parts ci"', { 'ci/x': 'modified', 'ci/y': 'created' }, ['ci/x']],
  [
    'a new configuration',
    'npm test',
    { 'jest.config.js': 'created', '.mocharc.yml': 'created' },
    ['jest.config.js', '.mocharc.yml'],
  ],
  ['Python and make', 'make test', { 'conftest.py': 'created', Makefile: 'modified' }, ['conftest.py', 'Makefile']],
  [
    'a program of a dependency',
    'npm test',
    { 'node_modules/.bin/jest': 'ignored', 'node_modules/x/y': 'ignored' },
    ['node_modules/ (ignored)'],
  ],
  ['other ignored output', 'npm test', { 'dist/test/a.js': 'ignored' }, []],
])('names %s, or does not', (_title, command, changes, expected) => {
  expect(changed(command, changes)).toEqual(expected);
});

it('counts a package.json by more than its dependencies, and follows its scripts', () => {
  const changes = { 'package.json': 'modified', 'ci/run.js': 'modified' } as const;
  expect(changed('npm test', changes)).toEqual(['package.json']);
  const more = { isManifestChanged: () => false, scripts: ['node ci/run.js'] };
  expect(changed('npm test', changes, more)).toEqual(['ci/run.js']);
  expect(changed('make', changes, more)).toEqual([]);
});

it('finds paths from the folder in which the command starts, and counts what does not fit', () => {
  expect(changed('sh run.sh', { 'app/run.sh': 'modified', 'run.sh': 'modified' }, { startIn: 'app' })).toEqual([
    'app/run.sh',
  ]);
  const many = Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`test/${at}.js`, 'deleted'] as const));
  expect(changed('npm test', many)).toHaveLength(21);
  expect(changed('npm test', many).at(-1)).toBe('5 more');
  expect(changed('x', { 'test/\u001b[2J.js': 'deleted' })).toEqual(['test/\\x1b[2J.js (deleted)']);
});

it('names folders of programs whose new content was withheld', () => {
  expect(changed('pytest', {}, { withheld: ['.venv', 'dist', 'app/node_modules/x'] })).toEqual([
    '.venv/ (ignored)',
    'app/node_modules/ (ignored)',
  ]);
});
