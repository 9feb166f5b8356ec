import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { sessionsCommand } from '../../../../src/cli/commands/sessions.ts';
import type { CommandContext } from '../../../../src/cli/context/context.ts';
import { contentText, leftText, sessionLines } from '../../../../src/cli/sessions/session-lines.ts';
import { type SessionFacts, sessionFacts } from '../../../../src/session/end/report/session-facts.ts';
import { listSessions } from '../../../../src/session/record/session.ts';
import { widthOf } from '../../../../src/terminal/columns/width.ts';
import { type RecordedSession, recordSessions } from '../../../support/session-fixture.ts';

const NOW = new Date(2026, 10, 21, 14, 30, 0).getTime();
const before = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString();
const prompt = (text: string) => ({ kind: 'claude', args: ['-p', text], print: true }) as const;
const five = { Makefile: 'suspect', '.git-x': 'blocked', a: 'clean', b: 'clean', c: 'clean' } as const;

const SESSIONS: readonly RecordedSession[] = [
  {
    id: '261121-142900-222',
    stage: 'pending',
    started: before(1),
    files: five,
    agentMs: 80_000,
    program: prompt(`fix \u001b[31mthe tests ${'and more '.repeat(20)}`),
    project: `/h/${'long/'.repeat(20)}project`,
    note: 'for Monday\u0007',
  },
  {
    id: '261121-110000-333',
    stage: 'pending',
    started: before(210),
    files: five,
    verdicts: { a: 'applied', b: 'same', c: 'conflict', Makefile: 'suspect', '.git-x': 'blocked' },
    project: '/h/日本語のプロジェクト',
    program: { kind: 'exec', argv: ['deploy', '--token', 'hunter2'] },
  },
  {
    id: '261121-100000-444',
    stage: 'applied',
    started: before(270),
    files: { a: 'clean' },
    verdicts: { a: 'applied' },
  },
  { id: '261120-100000-555', stage: 'applied', started: before(1700), files: {}, program: prompt('what is this?') },
  { id: '261120-090000-666', stage: 'discarded', started: before(1760), files: { a: 'clean', b: 'clean' } },
  {
    id: '261119-090000-777',
    stage: 'failed',
    started: before(3200),
    failure: {
      code: 'ENGINE_LOST',
      message: 'the engine \u001b[2J at unix:///run/docker.sock stopped answering\nmore',
    },
  },
  { id: '261119-080000-888', stage: 'running', started: before(3260) },
  { id: '261118-080000-999', stage: 'applied', started: before(5000), mode: 'bind', agentMs: 7_500_000 },
  {
    id: '261117-080000-bbb',
    stage: 'applied',
    started: before(6000),
    files: {},
    collected: { withheld: [{ directory: 'node_modules' as never, entries: 12, bytes: 9 }] },
  },
  { id: '261116-080000-ccc', stage: 'applied', started: before(7000), files: { x: 'blocked' } },
];

async function run(state: string, options: readonly string[], words: readonly string[] = []) {
  const out: string[] = [];
  const context = {
    cwd: '/',
    places: { stateDir: state },
    tell: () => undefined,
    write: (text: string) => void out.push(text),
  } as unknown as CommandContext;
  const line = {
    kind: 'command',
    name: 'sessions',
    options: new Map(options.map((name) => [name, []])),
    words,
    rest: [],
  };
  expect(await sessionsCommand(line as never, context)).toBe(0);
  return out.join('');
}

it('lists sessions in 80 columns, with whole ids and without control characters', () => {
  const state = recordSessions(SESSIONS);
  const listed = listSessions(state).sessions.map((record) => ({ record, facts: sessionFacts(record) }));
  const lines = sessionLines(listed, { columns: 80, nowMs: NOW, home: '/h', isOneProject: false });
  for (const line of lines) expect(widthOf(line), line).toBeLessThanOrEqual(80);
  expect(lines.map((line) => line.trimEnd())).toEqual([
    'session            state           started          changes',
    '261121-142900-222  pending         1 min ago',
    '  5 files, 1 suspect, 1 blocked',
    '  copy, 1 min 20 s, …/long/long/long/long/long/project: "fix \\x1b[31mthe tests …',
    '  note: for Monday\\x07',
    '261121-110000-333  partly applied  today 11:00',
    '  2 of 5 files, 1 suspect, 1 blocked',
    '  copy, ~/日本語のプロジェクト: deploy --token [masked]',
    '261121-100000-444  applied         today 10:00      1 file',
    '  copy, /p: make',
    '261120-100000-555  unchanged       yesterday 10:10  no changes',
    '  copy, /p: "what is this?"',
    '261120-090000-666  discarded       yesterday 09:10  2 files',
    '  copy, /p: make',
    '261119-090000-777  failed          19 Nov 09:10',
    '  copy, /p: make',
    '  failed at its start (ENGINE_LOST: the engine \\x1b[2J at unix:///run/docker.so…',
    '261119-080000-888  interrupted     19 Nov 08:10',
    '  copy, /p: make',
    '261118-080000-999  in place        18 Nov 03:10',
    '  bind, 2 h 5 min, /p: make',
    '261117-080000-bbb  unchanged       17 Nov 10:30     12 ignored',
    '  copy, /p: make',
    '261116-080000-ccc  blocked         16 Nov 17:50     1 file, 1 blocked',
    '  copy, /p: make',
  ]);
});

it('hides sessions without changes, and lists them with --all', async () => {
  const state = recordSessions(SESSIONS);
  const short = await run(state, []);
  expect(short).not.toContain('261120-100000-555');
  expect(short).toContain('261117-080000-bbb');
  expect(short.endsWith('1 session that changed nothing: run-claude sessions --all\n')).toBe(true);
  const all = await run(state, ['all']);
  expect(all).toContain('261120-100000-555');
  expect(all).not.toContain('that changed nothing');
  expect(await run(state, [], ['/p'])).toContain('sessions --all /p');
});

it('prints the same as JSON, with ISO times and every earlier field', async () => {
  const state = recordSessions(SESSIONS);
  const text = await run(state, ['json']);
  expect(text).not.toContain('hunter2');
  const data = JSON.parse(text);
  expect(data).toHaveLength(SESSIONS.length);
  const states = Object.fromEntries(data.map(({ id, state }: { id: string; state: string }) => [id.slice(-3), state]));
  expect(states).toMatchObject({
    222: 'pending',
    333: 'partly-applied',
    444: 'applied',
    555: 'unchanged',
    999: 'in-place',
  });
  expect(data[1]).toMatchObject({
    id: '261121-110000-333',
    stage: 'pending',
    started: before(210),
    mode: 'copy',
    owner: 'ended',
    program: 'exec',
    command: 'deploy --token [masked]',
    files: { total: 5, applied: 2, left: 2, inPart: 0, blocked: 1 },
    findings: { blocked: 1, suspect: 1, note: 0 },
  });
  expect(data[0]).toMatchObject({ agentMs: 80_000, note: 'for Monday\u0007' });
});

it('lists the readable sessions when one cannot be read', async () => {
  const state = recordSessions(SESSIONS);
  writeFileSync(path.join(state, 'sessions', '261121-100000-444', 'manifest'), '{');
  const text = await run(state, []);
  expect(text).not.toContain('261121-100000-444');
  expect(text).toContain('261121-110000-333');
});

it('says what a discard gives up, also where no file is left', () => {
  const none = { total: 0, applied: 0, left: 0, inPart: 0, blocked: 0 };
  const facts = (left: number, hasCommits = false, ignored = 0) =>
    ({ files: { ...none, total: left, left }, hasCommits, ignored }) as unknown as SessionFacts;
  const commits = [{ repository: '', count: 2, titles: [] }];
  expect(leftText({}, facts(3))).toBe('3 files left');
  expect(leftText({ commits }, facts(0, true))).toBe('2 commits');
  expect(leftText({}, facts(1, true))).toBe('1 file left, its commits');
  expect(leftText({}, facts(0, false, 12))).toBe('12 files that ignore rules matched');
  expect(leftText({}, facts(0))).toBe('which has nothing left to apply');
});

it('has files in JSON for every session: null until they are collected', async () => {
  const listed = JSON.parse(await run(recordSessions(SESSIONS), ['json', 'all']));
  expect(listed.every((one: object) => 'files' in one)).toBe(true);
  expect(listed.find(({ id }: { id: string }) => id === '261119-080000-888').files).toBeNull();
});

it('counts a file of which some parts are applied as status and apply do', () => {
  const files = { total: 4, applied: 1, left: 3, inPart: 1, blocked: 0 };
  const none = { hasCommits: false, ignored: 0, findings: {}, paths: { suspect: 0, blocked: 0 } };
  const facts = { ...none, state: 'partly-applied', files } as unknown as SessionFacts;
  expect(contentText(facts)).toBe('2 of 4 files, 1 of them in part');
});
