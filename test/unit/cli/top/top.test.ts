import { describe, expect, it } from 'vitest';
import { costLine, NO_ACTIVITY, withEvents } from '../../../../src/cli/top/activity.ts';
import { listRows, type TopState, topFrame } from '../../../../src/cli/top/frame.ts';
import { NO_CHOICE, pressKey, type TopChoice } from '../../../../src/cli/top/keys.ts';
import { matches, type SessionRow, sessionRow } from '../../../../src/cli/top/session-row.ts';
import type { HostEventKind, LogEvent } from '../../../../src/core/types/log-event.ts';
import type { SessionRecord } from '../../../../src/core/types/session.ts';
import { widthOf } from '../../../../src/terminal/columns/width.ts';

const AT = '2026-11-29T10:00:00.000Z';
const NOW_MS = Date.parse(AT) + 60_000;
const event = (kind: HostEventKind, text: string, facts?: Readonly<Record<string, string>>) =>
  ({ at: AT, by: 'host', kind, text, ...(facts && { facts }) }) as LogEvent;
const row = (more: Partial<SessionRow> = {}): SessionRow => ({
  id: '261129-100000-abc',
  agent: 'claude',
  state: 'working',
  isRunning: true,
  age: '1 min',
  files: '-',
  cost: '$0.12',
  network: '3/1',
  project: '/home/me/x',
  what: '"fix it"',
  activity: NO_ACTIVITY,
  ...more,
});
const state = (rows: readonly SessionRow[], more: Partial<TopState> = {}): TopState => ({
  ...{ rows, marked: 0, total: rows.length, running: 1, typing: undefined, filter: '', message: '' },
  ...more,
});
const frame = (given: TopState, columns = 80, rows = 24) =>
  topFrame(given, { columns, rows, colour: false, home: '/home/me', nowMs: NOW_MS });

describe('activity', () => {
  it('counts requests, keeps the latest events, and reads costs', () => {
    const events = [
      event('network', 'passed GET a:443', { verdict: 'passed' }),
      event('network', 'refused GET b:443', { verdict: 'refused' }),
      event('cost', '3 requests, about $0.12 at list prices'),
      event('cost', '9 requests, under $0.01 at list prices'),
      event('cost', 'nothing'),
    ];
    const found = withEvents(NO_ACTIVITY, events);
    expect(found).toMatchObject({ requests: 2, refused: 1, recent: events });
    expect(found.costs.map(({ usd }) => usd)).toEqual([0.12, 0.01]);
  });

  it('stays small, whatever an agent makes happen', () => {
    let activity = NO_ACTIVITY;
    const many = Array.from({ length: 1000 }, () => event('cost', 'about $1.00 at list prices'));
    for (let at = 0; at < 100; at++) activity = withEvents(activity, many);
    expect(activity.recent).toHaveLength(20);
    expect(activity.costs).toHaveLength(10_080);
    expect(costLine(activity.costs, NOW_MS, 30)).toHaveLength(30);
  });

  it('draws what was spent when', () => {
    const at = (minute: number, usd: number) => ({ atMs: minute * 60_000, usd });
    expect(costLine([at(0, 1), at(5, 3), at(9, 4)], 600_000, 10)).toBe('▅▁▁▁▁█▁▁▁▅');
    expect(costLine([at(0, 1)], 600_000, 10)).toBe('');
  });
});

describe('a row', () => {
  const record = {
    id: 'i',
    project: '/x',
    started: AT,
    plan: { program: { kind: 'kept' } },
  } as unknown as SessionRecord;
  const running = { state: 'running', files: undefined } as const;

  it('says that a session asks, until it was answered', () => {
    const asks = withEvents(NO_ACTIVITY, [event('notify', 'question: pending')]);
    expect(sessionRow(record, running, asks, NOW_MS)).toMatchObject({ state: 'asks you', age: '1 min', files: '-' });
    const answered = withEvents(asks, [event('answer', 'yes')]);
    expect(sessionRow(record, running, answered, NOW_MS).state).toBe('working');
    expect(sessionRow(record, { state: 'partly-applied', files: undefined }, asks, NOW_MS).state).toBe(
      'partly applied',
    );
  });

  it('matches by any of its texts', () => {
    expect(['ABC', 'claude', 'work', 'me/x', 'FIX'].map((text) => matches(row(), text))).not.toContain(false);
    expect(matches(row(), 'other')).toBe(false);
  });
});

describe('the frame', () => {
  const hostile = row({
    project: '/home/me/\x1b[2J\n漢字漢字'.repeat(20),
    what: '\x1b]0;x\x07\u202e'.repeat(50),
    activity: withEvents(NO_ACTIVITY, [event('files', 'a\x1b[31m\n\r\x9b2J'.repeat(40))]),
  });

  it.each([
    [80, 24],
    [120, 40],
    [30, 12],
  ])('fills %i × %i, and nothing of an agent leaves its line', (columns, rows) => {
    const many = Array.from({ length: 40 }, () => hostile).slice(0, listRows(rows));
    for (const given of [state([]), state([row()]), state(many), state(many, { typing: '\x1b[2J' })]) {
      const lines = frame(given, columns, rows);
      expect(lines).toHaveLength(rows);
      expect(lines.filter((line) => widthOf(line) > columns)).toEqual([]);
      expect(lines.filter((line) => /[\x00-\x1f\x7f-\x9f\u202e]/.test(line))).toEqual([]);
    }
  });

  it.each([3, 4, 6, 11])('of %i lines shows its marked session or its question, and scrolls nothing away', (rows) => {
    const many = Array.from({ length: listRows(rows) }, () => row());
    const lines = frame(state(many, { message: 'Stop session x?' }), 80, rows);
    expect(lines).toHaveLength(rows);
    expect(lines.join('\n')).toMatch(/> 261129-100000-abc.*Stop session x\?\nEnter attach/s);
  });

  it('has a line for each session, details of the marked one, and the keys', () => {
    const activity = withEvents(NO_ACTIVITY, [event('files', '2 created')]);
    const lines = frame(state([row(), row({ id: '261129-095959-xyz', activity })], { marked: 1 }));
    expect(lines[0]).toBe('run-claude top: 2 sessions, 1 running');
    expect(lines[2]).toBe('  261129-100000-abc claude   working         1 min           -    $0.12     3/1');
    expect(lines[3]).toMatch(/^> 261129-095959-xyz/);
    expect(lines.join('\n')).toMatch(/~\/x\n"fix it"\n\d\d:00:00 {2}files {2}2 created\n/);
    expect(lines.at(-1)).toMatch(/^Enter attach or review .* q quit$/);
  });
});

describe('keys', () => {
  const IDS = ['a', 'b', 'c'];
  const press = (name: string, choice: TopChoice = NO_CHOICE, text = name) =>
    pressKey(choice, { name, text: text.length === 1 ? text : '', ctrl: false }, IDS, 2);

  it('move the mark, and stay in the list', () => {
    expect(['up', 'down', 'pagedown', 'end', 'home'].map((name) => press(name).choice.marked)).toEqual([
      ...['a', 'b', 'c', 'c', 'a'],
    ]);
    expect(press('down', { ...NO_CHOICE, marked: 'c' }).choice.marked).toBe('c');
    expect(pressKey(NO_CHOICE, { name: 'return', text: '', ctrl: false }, [], 2).action).toBeUndefined();
  });

  it('start the command of the marked session', () => {
    const marked = { ...NO_CHOICE, marked: 'b' };
    expect(['return', 'r', 'l', 'd', 'x'].map((name) => press(name, marked).action)).toEqual([
      ...(['attach', 'attach', 'log', 'diff'] as const).map((kind) => ({ kind, id: 'b' })),
      undefined,
    ]);
    expect(press('q').action).toEqual({ kind: 'quit' });
    expect(pressKey(NO_CHOICE, { name: 'c', text: '', ctrl: true }, IDS, 2).action).toEqual({ kind: 'quit' });
  });

  it('stop a session after a yes only', () => {
    const { choice, action } = press('s');
    expect([choice.asking, action]).toEqual(['a', undefined]);
    expect(press('return', choice)).toEqual({ choice: NO_CHOICE });
    expect(press('y', choice).action).toEqual({ kind: 'stop', id: 'a' });
  });

  it('type a filter, whose letters are no commands', () => {
    let { choice } = press('', NO_CHOICE, '/');
    for (const letter of ['q', 's', 'é']) ({ choice } = press(letter === 'é' ? '' : letter, choice, letter));
    ({ choice } = press('backspace', choice));
    expect(choice.typing).toBe('qs');
    expect(press('return', choice).choice).toMatchObject({ filter: 'qs', typing: undefined });
    expect(press('escape', choice).choice).toMatchObject({ filter: '', typing: undefined });
    expect(press('escape', { ...NO_CHOICE, filter: 'x' }).choice.filter).toBe('');
    expect(press('a').choice.showsAll).toBe(true);
  });
});
