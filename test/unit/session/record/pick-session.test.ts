import { expect, it } from 'vitest';
import { COMMANDS } from '../../../../src/cli/grammar/commands.ts';
import {
  isPending,
  othersText,
  PURPOSE_OF_COMMAND,
  pickSession,
  type SessionCandidate,
  type SessionCommand,
} from '../../../../src/session/record/find/pick-session.ts';

interface Named extends SessionCandidate {
  readonly name: string;
}
/** A session that started in second `at` of one minute. */
const one = (
  name: string,
  at: number,
  stage: SessionCandidate['stage'],
  more: Partial<SessionCandidate> = {},
): Named => ({
  name,
  stage,
  started: `2026-11-21T14:05:${String(at).padStart(2, '0')}.000Z`,
  isOwned: false,
  appliedAt: undefined,
  hasLayer: false,
  hasCommits: false,
  isKept: false,
  ...more,
});
const applied = (second: number) => ({ appliedAt: `2026-11-21T15:00:${second}.000Z` });
const MANY = [
  one('oldest', 1, 'pending', { hasLayer: true }),
  one('partly', 2, 'pending', { hasLayer: true, ...applied(30) }),
  one('done', 3, 'applied', applied(20)),
  one('layer', 4, 'applied', { hasLayer: true, ...applied(10) }),
  one('nothing', 5, 'applied'),
  one('thrown', 6, 'discarded'),
  one('failed', 7, 'failed'),
];
const RUNNING = one('running', 8, 'running', { isOwned: true, hasLayer: true });
const CUT_OFF = one('cut-off', 9, 'running', { hasLayer: true });

const COMMITTED = one('committed', 10, 'applied', { hasCommits: true });
const COMMITTED_EARLIER = one('committed-earlier', 0, 'pending', { hasCommits: true });
const UP = one('up', 11, 'running', { isOwned: true, isKept: true, hasLayer: true });
const ENDED_UP = one('ended-up', 12, 'pending', { isKept: true });

/** Which session each command means without an id, and which others it names. */
it.each<[SessionCommand, Named[], picked: string | undefined, others: string[]]>([
  ['status', MANY, 'partly', ['oldest']],
  ['diff', MANY, 'partly', ['oldest']],
  ['apply', MANY, 'partly', ['oldest']],
  ['discard', MANY, 'partly', ['oldest']],
  ['export', MANY, 'partly', ['oldest']],
  ['audit', MANY, 'partly', ['oldest']],
  ['undo', MANY, 'partly', ['done', 'layer']],
  ['resume', MANY, 'layer', ['partly', 'oldest']],
  ['explore', MANY, 'layer', ['partly', 'oldest']],
  ['note', MANY, 'thrown', ['nothing', 'layer', 'done', 'partly', 'oldest']],
  ['network', MANY, 'thrown', ['nothing', 'layer', 'done', 'partly', 'oldest']],
  ['log', MANY, 'failed', ['thrown', 'nothing', 'layer', 'done', 'partly', 'oldest']],
  // The last apply, not the last session.
  ['undo', MANY.filter(({ name }) => name !== 'partly'), 'done', ['layer']],
  // Commits are not the newest pending session's: they stay after their session was applied.
  ['commits', [...MANY, COMMITTED, COMMITTED_EARLIER], 'committed', ['committed-earlier']],
  ['commits', [...MANY, COMMITTED_EARLIER], 'committed-earlier', []],
  ['commits', [one('inside', 20, 'running', { isOwned: true, hasCommits: true }), COMMITTED], 'committed', []],
  // None fits: the most recent session that produced a result.
  ['undo', [one('waits', 1, 'pending'), one('failed', 2, 'failed')], 'waits', []],
  ['apply', MANY.slice(2), 'thrown', []],
  ['diff --follow', MANY, 'thrown', []],
  ['shell', MANY, 'thrown', []],
  ['commits', MANY, 'thrown', []],
  ['resume', [one('done', 3, 'applied')], 'done', []],
  ['status', [one('failed', 1, 'failed')], 'failed', []],
  // A running session can be shown, followed and entered. It cannot be decided on, undone or resumed yet.
  ['status', [...MANY, RUNNING], 'running', ['partly', 'oldest']],
  ['diff --follow', [...MANY, RUNNING, CUT_OFF], 'running', []],
  ['shell', [RUNNING, one('newer', 20, 'applied')], 'running', []],
  ['ports', [RUNNING, one('newer', 20, 'pending')], 'running', []],
  ['network allow', [RUNNING, UP, one('newer', 20, 'pending')], 'up', ['running']],
  ['apply', [...MANY, RUNNING], 'partly', ['oldest']],
  ['resume', [...MANY, RUNNING], 'layer', ['partly', 'oldest']],
  ['apply', [RUNNING], 'running', []],
  // A session whose command was killed is pending as well.
  ['apply', [...MANY, CUT_OFF], 'cut-off', ['partly', 'oldest']],
  // No other session is ended in place of one that runs.
  ['stop', MANY, undefined, []],
  ['stop', [...MANY, RUNNING], 'running', []],
  ['stop', [...MANY, CUT_OFF], 'cut-off', []],
  ['stop', [RUNNING, UP], 'up', ['running']],
  ['down', [...MANY, RUNNING], undefined, []],
  ['down', [...MANY, RUNNING, UP, ENDED_UP], 'up', []],
  // It has just ended by itself: its review is what the user wants.
  ['down', [...MANY, RUNNING, ENDED_UP], 'ended-up', []],
])('%s of %j', (command, candidates, picked, others) => {
  for (const order of [candidates, candidates.toReversed()]) {
    const found = pickSession(order, PURPOSE_OF_COMMAND[command]);
    expect([found?.session.name, found?.others.map(({ name }) => name) ?? []]).toEqual([picked, others]);
  }
});

it('picks nothing where there is no session', () => {
  for (const purpose of Object.values(PURPOSE_OF_COMMAND)) expect(pickSession([], purpose)).toBeUndefined();
});

it('has a row for every command that takes the id of a session', () => {
  const named = COMMANDS.filter(({ usage }) => usage.includes('ID')).map(({ name }) => name);
  const rows = Object.keys(PURPOSE_OF_COMMAND).map((name) => name.split(' ')[0]);
  expect([...new Set(rows)].sort()).toEqual(named.sort());
});

it('is pending when changes are undecided, or are still to be collected', () => {
  const all = [...MANY, RUNNING, CUT_OFF, COMMITTED, UP, ENDED_UP, one('killed-early', 1, 'planned')];
  expect(all.filter(isPending).map(({ name }) => name)).toEqual([
    'oldest',
    'partly',
    'cut-off',
    'ended-up',
    'killed-early',
  ]);
});

it('names how many others there are', () => {
  expect(othersText(1, 'decide')).toBe('1 other is pending');
  expect(othersText(3, 'commits')).toBe('3 others have commits');
});
