import { expect, it } from 'vitest';
import { GENERAL_RULES } from '../../../../src/audit/general-rules/all.ts';
import { REHEARSAL_RULES } from '../../../../src/audit/general-rules/rehearsed.ts';
import type { RelPath } from '../../../../src/core/text/path.ts';
import { compareRuns, notStarted, type SceneRuns } from '../../../../src/rehearsal/facts/compare.ts';
import { JAVASCRIPT_SCENES } from '../../../../src/rehearsal/scenes/javascript.ts';
import { isRehearsed } from '../../../../src/review/choices/findings.ts';
import { NPM_TEST, observed, starts } from './recorded.ts';

const NPM = JAVASCRIPT_SCENES.find(({ name }) => name === 'npm test') as SceneRuns['scene'];
const CHANGED = new Set(['lib/error.js']);
const HOSTILE = [
  ...NPM_TEST,
  ...starts(31, 27, '/usr/bin/uname'),
  { k: 'read', pid: 27, parent: 20, path: '/home/agent/.ssh/id_rsa', old: 1 },
  { k: 'connect', pid: 27, parent: 20, to: '192.0.2.7:443' },
  { k: 'write', pid: 27, parent: 20, path: '/home/agent/.bashrc', old: 0 },
  { k: 'evaded', pid: 27, parent: 20, why: 'filter' },
];
const compare = (base: SceneRuns['bases'], result: SceneRuns['result'], scene = NPM) =>
  compareRuns([{ scene, bases: base, result }], { changed: CHANGED });

it('finds what only the changes do, at the file that led there', () => {
  const { hits, ran, gaps } = compare([observed(NPM_TEST)], observed(HOSTILE));
  expect(hits.map(({ rule, path, severity, detail }) => [rule, path, severity, detail])).toEqual(
    [
      ['rehearsed-program', 'npm test: starts uname (npm > node > node test/a.test.js)'],
      ['rehearsed-decoy-read', 'npm test: reads ~/.ssh/id_rsa (npm > node > node test/a.test.js)'],
      ['rehearsed-connection', 'npm test: connects to 192.0.2.7:443 (npm > node > node test/a.test.js)'],
      ['rehearsed-write', 'npm test: writes ~/.bashrc (npm > node > node test/a.test.js)'],
      ['rehearsal-evaded', 'npm test: installs a filter of its own (npm > node > node test/a.test.js)'],
    ].map(([rule, detail]) => [rule, 'lib/error.js', 'suspect', detail]),
  );
  expect([ran, gaps]).toEqual([['npm test'], []]);
});

it('is silent about what the project did before, in any of its runs', () => {
  expect(compare([observed(HOSTILE)], observed(HOSTILE)).hits).toEqual([]);
  expect(compare([observed(NPM_TEST), observed(HOSTILE)], observed(HOSTILE)).hits).toEqual([]);
});

it('is silent about the random name of a temporary file that the project had too, and about no other name', () => {
  // As `pip install -e .` writes them.
  const INFO = '/home/agent/.local/lib/python3.11/site-packages/demo-0.1.dist-info';
  const writes = (...paths: readonly string[]) =>
    observed([...NPM_TEST, ...paths.map((path) => ({ k: 'write', pid: 27, parent: 20, path, old: 0 }))]);
  const found = (base: readonly string[], result: readonly string[]) =>
    compare([writes(...base)], writes(...result)).hits.length;
  const [one, other] = [`${INFO}/INSTALLERp45wxx43.tmp`, `${INFO}/INSTALLERckk_qe8z.tmp`];
  expect(found([one], [other])).toBe(0);
  expect(found([one], [other, `${INFO}/INSTALLERaaaaaaaa.tmp`])).toBe(1);
  expect(found([one], [one, other])).toBe(1);
  expect(found([one], [`${INFO}/INSTALLER.tmp`])).toBe(1);
  expect(found(['/home/agent/.profile'], ['/home/agent/.zshrc_1'])).toBe(1);
  expect(found(['/home/agent/one/x.tmp'], ['/home/agent/two/x.tmp'])).toBe(1);
  expect(found(['/home/agent/abcdef'], ['/home/agent/.login'])).toBe(1);
});

it("takes a read of the project's own secrets for one of a decoy, unless the project reads them too", () => {
  const reading = observed([...NPM_TEST, { k: 'read', pid: 27, parent: 20, path: '/workspace/conf/.env', old: 1 }]);
  const files = { changed: CHANGED, secrets: new Set(['conf/.env']) };
  const hits = (base: SceneRuns['result'], given = files) =>
    compareRuns([{ scene: NPM, bases: [base], result: reading }], given).hits.map(({ rule, detail }) => [rule, detail]);
  expect(hits(observed(NPM_TEST))).toEqual([
    ['rehearsed-decoy-read', 'npm test: reads conf/.env (npm > node > node test/a.test.js)'],
  ]);
  expect(hits(reading)).toEqual([]);
  expect(hits(observed(NPM_TEST), { ...files, secrets: new Set() })).toEqual([]);
});

it('is silent about a new test, and not about the same program for another file', () => {
  const runs = (file: string) => observed([...NPM_TEST, ...starts(40, 20, '/opt/node/package/bin/node', [file])]);
  expect(compare([observed(NPM_TEST)], runs('test/b.test.js')).hits).toEqual([]);
  expect(compare([observed(NPM_TEST)], runs('lib/b.js')).hits).toHaveLength(1);
});

it('is silent about the programs of a command that is new to the project', () => {
  const [without] = [observed([], { k: 'without' })];
  expect(compare([without], observed(NPM_TEST)).hits.map(({ detail }) => detail)).toEqual([]);
  expect(compare([without], observed(HOSTILE)).hits).toHaveLength(5);
});

it('knows a program of such a command by its name without a version', () => {
  const result = observed(starts(5, 4, '/usr/bin/python3.11'));
  const scene = { name: 'python in the folder', tools: ['python3'] };
  expect(compare([observed([], { k: 'without' })], result, scene).hits).toEqual([]);
});

it('is one finding where several commands do the same', () => {
  const runs = ['git status', 'git diff', 'git add'].map((name) => ({
    scene: { name, tools: ['git'] },
    bases: [observed([])] as const,
    result: observed(starts(5, 4, '/usr/bin/curl')),
  }));
  expect(compareRuns(runs, { changed: CHANGED }).hits.map(({ detail }) => detail)).toEqual([
    'git status and 2 more commands: starts curl',
  ]);
});

it('is never silent about a command that only the changes stop', () => {
  for (const why of ['time', 'flood', 'unended', 'ended early'])
    expect(compare([observed(NPM_TEST)], observed(NPM_TEST, { k: 'broken', why })).hits).toMatchObject([
      { rule: 'rehearsal-evaded', path: 'lib/error.js' },
    ]);
});

it('names what was not compared, and why', () => {
  const gapsOf = (base: object, result: object) =>
    compare([observed([], { ...base })], observed([], { ...result })).gaps;
  expect(gapsOf({ k: 'absent', tool: 'cargo' }, { k: 'absent', tool: 'cargo' })).toEqual([
    'npm test: the image has no cargo',
  ]);
  expect(gapsOf({ k: 'unbudgeted' }, { k: 'unbudgeted' })).toEqual(['npm test: no time was left']);
  expect(gapsOf({ k: 'broken', why: 'time' }, { k: 'broken', why: 'time' })).toEqual([
    'npm test: it did not end in the project as it was',
  ]);
  const one = compare([observed([], { k: 'unbudgeted' })], observed(HOSTILE));
  expect([one.hits, one.gaps]).toEqual([[], ['npm test: no time was left for the project as it was']]);
});

it('knows the changed files that took no part', () => {
  const changed = new Set(['lib/error.js', 'notes.txt']);
  const { untouched } = compareRuns([{ scene: NPM, bases: [observed([])], result: observed(NPM_TEST) }], { changed });
  expect([...untouched]).toEqual(['notes.txt']);
});

it('takes no file for untouched where a command was not seen from its start to its end', () => {
  const untouched = (result: SceneRuns['result']) => [
    ...compareRuns([{ scene: NPM, bases: [observed([])], result }], { changed: new Set(['notes.txt']) }).untouched,
  ];
  const evaded = { k: 'evaded', pid: 27, parent: 20, why: 'unreadable' };
  expect(untouched(observed(NPM_TEST))).toEqual(['notes.txt']);
  expect(untouched(observed([...NPM_TEST, evaded]))).toEqual([]);
  expect(untouched(observed(NPM_TEST, { k: 'broken', why: 'time' }))).toEqual([]);
  expect(untouched(observed([], { k: 'absent', tool: 'npm' }))).toEqual([]);
});

it('notes the suspect and blocked findings whose file no command started', () => {
  const done = { ran: ['git status', 'npm test'], untouched: new Set(['a', 'b', 'c']) };
  const audited = (['suspect', 'suspect', 'blocked', 'note', 'suspect'] as const).map((severity, at) => ({
    severity,
    path: ['a', 'a', 'b', 'c', 'started'][at] as RelPath,
  }));
  expect(notStarted(done, audited)).toMatchObject([
    { path: 'a', severity: 'note', title: 'Not started by any of 2 commands' },
    { path: 'b', severity: 'note' },
  ]);
});

it('is known by the ids of its rules', () => {
  const known = GENERAL_RULES.filter((rule) => isRehearsed({ rule: rule.id }));
  expect(known).toEqual(REHEARSAL_RULES);
});
