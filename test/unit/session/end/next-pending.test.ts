import { expect, it } from 'vitest';
import { tellNextPending } from '../../../../src/session/end/next-pending.ts';
import { type RecordedSession, recordSessions } from '../../../support/session-fixture.ts';

const one = (second: number, stage: RecordedSession['stage'], project = '/p'): RecordedSession => ({
  id: `261120-10000${second}-222`,
  stage,
  started: `2026-11-20T10:00:0${second}.000Z`,
  project,
});

/** What is printed after a review of the first session. */
function printed(sessions: readonly RecordedSession[], parts: { readonly screen?: object; readonly by?: string } = {}) {
  const lines: string[] = [];
  const deps = {
    host: { stateDir: recordSessions(sessions) },
    screen: parts.screen,
    interruption: { by: () => parts.by },
    tell: ({ text }: { readonly text: string }) => void lines.push(text),
  };
  tellNextPending({ id: sessions[0]?.id ?? '', project: '/p' }, deps as never);
  return lines.join();
}

it('names the next pending session after a review on a terminal, and only there', () => {
  const screen = {};
  const [own, other, applied, elsewhere] = [
    one(1, 'pending'),
    one(2, 'pending'),
    one(3, 'applied'),
    one(4, 'pending', '/q'),
  ];
  expect(printed([own, other, applied, elsewhere], { screen })).toBe(
    '1 other session of this project is pending: run-claude apply 261120-100002-222',
  );
  // One whose command was killed is pending too.
  expect(printed([own, other, one(5, 'running')], { screen })).toContain(
    '2 other sessions of this project are pending. Next: run-claude apply 261120-100005-222',
  );
  expect(printed([own, applied, elsewhere], { screen })).toBe('');
  expect(printed([own, other])).toBe('');
  expect(printed([own, other], { screen, by: 'SIGINT' })).toBe('');
});
