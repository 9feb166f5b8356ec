import { describe, expect, it } from 'vitest';
import { factsOf } from '../../../../src/rehearsal/facts/facts.ts';
import { NPM_TEST, observed, starts } from './recorded.ts';

const CHANGED = new Set(['lib/error.js', 'tools/gen.sh']);
const facts = (rows: Parameters<typeof observed>[0], end?: Parameters<typeof observed>[1]) =>
  factsOf(observed(rows, end), { changed: CHANGED }).facts;
const words = (...given: Parameters<typeof facts>) => facts(...given).map(({ kind, what }) => `${kind} ${what}`);
const at = (k: string, rest: Readonly<Record<string, unknown>>) => ({ k, pid: 27, parent: 20, ...rest });

it('names programs, with the script that an interpreter runs, and the changed files that took part', () => {
  expect(words(NPM_TEST)).toEqual(['program npm', 'program sh', 'program node', 'program node test/a.test.js']);
  expect([...factsOf(observed(NPM_TEST), { changed: CHANGED }).took]).toEqual(['lib/error.js']);
});

it('tells the chain of programs, and the changed file that led there', () => {
  const found = facts([
    ...NPM_TEST,
    ...starts(31, 27, '/usr/bin/uname'),
    at('connect', { to: '198.18.0.1:443', name: 'x.example' }),
    at('read', { path: '/home/agent/.ssh/id_rsa', old: 1 }),
  ]);
  const chain = ['npm', 'node', 'node test/a.test.js'];
  expect(found.slice(-3)).toEqual([
    { kind: 'program', what: 'uname', chain: [...chain, 'uname'], by: 'lib/error.js' },
    { kind: 'connection', what: 'connects to x.example:443', chain, by: 'lib/error.js' },
    { kind: 'decoy', what: '~/.ssh/id_rsa', chain, by: 'lib/error.js' },
  ]);
});

it('takes the script that a process runs before what its parents read', () => {
  const rows = [...NPM_TEST, ...starts(31, 27, '/workspace/tools/gen.sh', [], { script: 1, program: '/usr/bin/dash' })];
  expect(facts(rows).at(-1)).toMatchObject({ what: 'sh tools/gen.sh', by: 'tools/gen.sh' });
});

it('counts files that git compares as untouched, and its configuration not', () => {
  const git = (path: string) => [...starts(5, 4, '/usr/bin/git'), { k: 'read', pid: 5, parent: 4, path, old: 1 }];
  const took = (path: string) => [
    ...factsOf(observed(git(path)), { changed: new Set(['lib/error.js', '.git/config']) }).took,
  ];
  expect(took('/workspace/lib/error.js')).toEqual([]);
  expect(took('/workspace/.git/config')).toEqual(['.git/config']);
});

it('takes the program that the kernel runs, not the one that was asked for', () => {
  expect(words(starts(5, 4, '/usr/bin/true', [], { program: '/tmp/x81/evil' }))).toEqual(['program /tmp/NAME/evil']);
});

it('has a program that ended before another call of its own', () => {
  expect(words(starts(5, 4, '/usr/bin/true').slice(0, 1))).toEqual(['program true']);
});

describe('noise', () => {
  it.each([
    ['numbers of processes', '/workspace/x-1234567/a', '/workspace/x-7654321/a'],
    ['hashes', '/etc/x/0123abc4567890', '/etc/x/fedc0123456789'],
    ['times', '/etc/x/2026-11-29T02_39_01_118Z-debug', '/etc/x/2026-11-29T03_40_02_119Z-debug'],
  ])('of %s is the same', (_name, one, other) => {
    const of = (path: string) => words([at('write', { path, old: 1 })]);
    expect(of(one)).toHaveLength(1);
    expect(of(one)).toEqual(of(other));
  });

  it.each([
    ['a cache', at('write', { path: '/home/agent/.cache/x', old: 0 })],
    ['a temporary file', at('write', { path: '/tmp/x', old: 1 })],
    ['new build output', at('write', { path: '/workspace/dist/out.js', old: 0 })],
    ['the index of git', at('write', { path: '/workspace/.git/index.lock', old: 0 })],
    ['a port that the kernel picked', at('connect', { to: '127.0.0.1:40123' })],
    ['a source file', at('read', { path: '/workspace/src/a.js', old: 1 })],
  ])('of %s does not count', (_name, row) => {
    expect(words([row])).toEqual([]);
  });

  it('of a file that the command made itself, and of a server that it connects to itself, does not count', () => {
    const file = { path: '/workspace/dist/out.js' };
    expect(words([at('write', { ...file, old: 0 }), at('write', { ...file, old: 1 })])).toEqual([]);
    expect(words([at('bind', { to: '127.0.0.1:3000' }), at('connect', { to: '127.0.0.1:3000' })])).toEqual([]);
  });
});

it.each([
  ['write ~/.bashrc', at('write', { path: '/home/agent/.bashrc', old: 0 })],
  ['write /etc/cron.d/x', at('write', { path: '/etc/cron.d/x', old: 0 })],
  ['write src/a.js', at('write', { path: '/workspace/src/a.js', old: 1 })],
  ['write src/a.js (deleted)', at('delete', { path: '/workspace/src/a.js', old: 1 })],
  ['write .git/hooks/pre-commit', at('write', { path: '/workspace/.git/hooks/pre-commit', old: 0 })],
  ['write .git/config', at('write', { path: '/workspace/.git/config', old: 1 })],
  ['write .vscode', at('write', { path: '/workspace/.vscode/tasks.json', old: 0 })],
  ['connection connects to localhost:6379', at('connect', { to: '127.0.0.1:6379' })],
  ['connection connects to unix:/var/run/docker.sock', at('connect', { to: 'unix:/var/run/docker.sock' })],
  ['connection listens on 0.0.0.0:8080', at('bind', { to: '0.0.0.0:8080' })],
  ['connection asks for x.example', { k: 'lookup', name: 'x.example' }],
  ['decoy /proc/PID/environ', at('read', { path: '/proc/1/environ', old: 1 })],
  ['evaded becomes unreadable', at('evaded', { why: 'unreadable' })],
  ['evaded a record that this release does not know', at('new', {})],
  ['program a program that runs on after the command', { k: 'left' }],
])('%s is a fact', (fact, row) => {
  expect(words([row])).toEqual([fact]);
});

it('takes a command that was stopped as one that hides', () => {
  expect(words([], { k: 'broken', why: 'flood' })).toEqual(['evaded does more than can be recorded']);
});

it('never ends in a circle of processes', () => {
  expect(words([...starts(5, 6, '/bin/a'), ...starts(6, 5, '/bin/b')])).toEqual(['program a', 'program b']);
});
