import { expect, it } from 'vitest';
import { isSameEngine } from '../../../../src/engines/engine/same-engine.ts';

const at = (endpoint: string, id: string | undefined, dataRoot = '/var/lib/docker') => ({ endpoint, id, dataRoot });

it.each([
  ['the same address', at('ssh://a', 'X'), at('ssh://a', 'Y'), true],
  ['another address of the same engine', at('ssh://a', 'X'), at('tcp://a:2376', 'X'), true],
  ['two daemons of one machine, which share an id', at('unix:///a', 'X', '/one'), at('unix:///b', 'X', '/two'), false],
  ['another engine', at('ssh://a', 'X'), at('ssh://b', 'Y'), false],
  ['addresses of which no id is known', at('ssh://a', undefined), at('ssh://b', undefined), false],
])('%s', (_what, one, other, expected) => {
  expect(isSameEngine(one, other)).toBe(expected);
});
