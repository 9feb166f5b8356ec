import { describe, expect, it } from 'vitest';
import { findSession } from '../../../../src/session/record/find/find-session.ts';
import { recordSessions } from '../../../support/session-fixture.ts';

const many = Array.from({ length: 30 }, (_, at) => ({
  id: `261120-1000${String(at + 10)}-222`,
  stage: 'running' as const,
  started: `2026-11-20T10:00:${String(at + 10)}.000Z`,
}));

describe('an id that could be several sessions', () => {
  it('names the most recent ones, one on each line, and how many more there are', () => {
    const state = recordSessions(many);
    const lines = (): string[] => {
      try {
        findSession(state, '2611', '/p', 'any');
      } catch (error) {
        return (error as { hint: string }).hint.split('\n');
      }
      return [];
    };
    expect(lines().slice(0, 2)).toEqual(['Type more of it, as it is in:', '  261120-100039-222']);
    expect(lines().length).toBe(10);
    expect(lines().at(-1)).toBe('  … and 22 more: run-claude sessions --all');
  });
});

describe('a command that ends an agent', () => {
  it('does not choose between several', () => {
    const state = recordSessions(many.slice(0, 2));
    expect(() => findSession(state, undefined, '/p', 'stop')).toThrow('2 sessions of /p could be meant');
    expect(findSession(state, many[0]?.id, '/p', 'stop').record.id).toBe(many[0]?.id);
  });

  it('takes no session of a folder further up where this folder has some', () => {
    const state = recordSessions([
      { id: '261120-100000-222', stage: 'running', started: '2026-11-20T10:00:00.000Z', project: '/p' },
      { id: '261120-100001-222', stage: 'applied', started: '2026-11-20T10:00:01.000Z', project: '/p/inner' },
    ]);
    expect(findSession(state, undefined, '/p/other', 'stop').record.id).toBe('261120-100000-222');
    expect(() => findSession(state, undefined, '/p/inner', 'stop')).toThrow('no session of /p/inner is running');
  });
});
