import { expect, it } from 'vitest';
import { type Purpose, pickSession, type SessionCandidate } from '../../../src/record/pick-session.ts';

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

it.each<[Purpose, Named[], picked: string, pending: string[]]>([
  ['look', MANY, 'partly', ['oldest']],
  ['decide', MANY, 'partly', ['oldest']],
  ['undo', MANY, 'partly', ['oldest']],
  ['layer', MANY, 'layer', ['partly', 'oldest']],
  ['any', MANY, 'thrown', ['partly', 'oldest']],
  ['follow', MANY, 'thrown', ['partly', 'oldest']],
  ['log', MANY, 'failed', ['partly', 'oldest']],
  // The last apply, not the last session.
  ['undo', MANY.filter(({ name }) => name !== 'partly'), 'done', ['oldest']],
  // None fits: the most recent session that produced a result.
  ['undo', [one('waits', 1, 'pending'), one('failed', 2, 'failed')], 'waits', []],
  ['decide', MANY.slice(2), 'thrown', []],
  ['layer', [one('done', 3, 'applied')], 'done', []],
  ['look', [one('failed', 1, 'failed')], 'failed', []],
  // A running session can be shown and followed. It cannot be decided on, undone or resumed yet.
  ['look', [...MANY, RUNNING], 'running', ['partly', 'oldest']],
  ['follow', [...MANY, RUNNING, CUT_OFF], 'running', ['cut-off', 'partly', 'oldest']],
  ['decide', [...MANY, RUNNING], 'partly', ['oldest']],
  ['layer', [...MANY, RUNNING], 'layer', ['partly', 'oldest']],
  ['decide', [RUNNING], 'running', []],
  // A session whose command was killed is pending as well.
  ['decide', [...MANY, CUT_OFF], 'cut-off', ['partly', 'oldest']],
])('%s of %j', (purpose, candidates, picked, pending) => {
  for (const order of [candidates, candidates.toReversed()]) {
    const found = pickSession(order, purpose);
    expect([found?.session.name, found?.alsoPending.map(({ name }) => name)]).toEqual([picked, pending]);
  }
});

it('picks nothing where there is no session', () => {
  expect(pickSession([], 'decide')).toBeUndefined();
});
