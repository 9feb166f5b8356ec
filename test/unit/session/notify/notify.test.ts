import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { callerFor, type NoticeRoutes, ownRoutes, sendNotice } from '../../../../src/session/notify/notify.ts';
import { eventsFile } from '../../../../src/session/record/events/events-file.ts';
import { planWith } from '../../../support/session-record.ts';

let sessionDir: string;
beforeEach(() => {
  sessionDir = mkdtempSync(path.join(tmpdir(), 'notify-'));
});
afterEach(() => rmSync(sessionDir, { recursive: true }));

function sent(notify: readonly string[], routes: Partial<NoticeRoutes>): readonly string[] {
  const calls: string[] = [];
  const start = (program: string, args: readonly string[]): void => void calls.push([program, ...args].join('|'));
  const plan = planWith({ sessionDir, policy: { notify } });
  sendNotice(plan, { kind: 'end', verdict: 'pending' }, { start, platform: 'linux', env: {}, ...routes });
  return calls;
}

it('the program of the setting gets id, kind, verdict and project behind its own words', () => {
  expect(sent(['call', '--me'], { env: { DISPLAY: ':0' } })).toEqual(['call|--me|261121-140512-k7p|end|pending|/p']);
  expect(readFileSync(eventsFile(sessionDir), 'utf8')).toContain('"kind":"notify","text":"end: pending"');
});

it('without one it is the desktop, where there is one', () => {
  const text = 'Session 261121-140512-k7p has ended: pending';
  expect(sent([], {})).toEqual([]);
  expect(sent([], { env: { WAYLAND_DISPLAY: 'w' } })).toEqual([`notify-send|--|run-claude|${text}`]);
  expect(sent([], { platform: 'darwin' })).toEqual([
    `osascript|-e|display notification "${text}" with title "run-claude"`,
  ]);
});

it('a terminal gets its bell and its notices', () => {
  let written = '';
  const write = (text: string): void => {
    written += text;
  };
  sent([], { write });
  expect(written.startsWith('\x07\x1b]9;Session 261121-140512-k7p has ended: pending\x07')).toBe(true);
  expect(written).toMatch(/\x1b\]99;;Session .*\x1b\\\x1b\]777;notify;run-claude;Session /);
});

it('a program that does not exist does not fail the session', async () => {
  ownRoutes(undefined).start('/nowhere/notify', []);
  await new Promise((resolve) => setTimeout(resolve, 50));
});

it('nobody is called for a short run at a terminal, nor where nobody answers', () => {
  let ms = 0;
  const plan = planWith({ sessionDir, policy: { notify: ['/nowhere/notify'] } });
  const calls = (): number =>
    existsSync(eventsFile(sessionDir)) ? readFileSync(eventsFile(sessionDir), 'utf8').split('\n').length - 1 : 0;
  const call = callerFor(plan, { isAway: false, isAttended: true }, () => ms);
  call({ kind: 'question', verdict: 'review' });
  callerFor(plan, { isAway: false, isAttended: false }, () => (ms += 100_000))({ kind: 'end', verdict: 'pending' });
  expect(calls()).toBe(0);
  ms = 60_000;
  call({ kind: 'question', verdict: 'review' });
  callerFor(plan, { isAway: true, isAttended: false })({ kind: 'end', verdict: 'pending' });
  expect(calls()).toBe(2);
});
