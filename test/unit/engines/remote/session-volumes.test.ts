import { expect, it } from 'vitest';
import { requireSessionId, sessionIdOf, volumeObject } from '../../../../src/engines/remote/session-volumes.ts';

const ID = '261128-120000-h2k';

it('finds the session of a volume by its label, and otherwise by its name', () => {
  expect(requireSessionId(`run-claude-${ID}-home`)).toBe(ID);
  expect(requireSessionId('home', { 'run-claude.session': ID })).toBe(ID);
  expect(sessionIdOf('run-claude-base')).toBeUndefined();
  expect(() => requireSessionId('run-claude-base')).toThrow('no session has a volume like run-claude-base');
});

it('lists a volume with the label of its session', () => {
  expect(volumeObject('v', ID, 5)).toMatchObject({
    kind: 'volume',
    name: 'v',
    createdMs: 5,
    labels: { 'run-claude.session': ID },
  });
});
