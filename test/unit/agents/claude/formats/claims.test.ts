import { expect, it } from 'vitest';
import { claimsOfLine } from '../../../../../src/agents/claude/formats/claims.ts';

const AT = '2026-11-21T14:00:00.000Z';
const claims = (record: object) => claimsOfLine(JSON.stringify(record)).map(({ kind, text }) => `${kind} ${text}`);

it.each([
  ['a prompt', { type: 'user', timestamp: AT, message: { content: 'fix it' } }, ['prompt fix it']],
  [
    'a prompt in parts',
    { type: 'user', timestamp: AT, message: { content: [{ type: 'text', text: 'a' }] } },
    ['prompt a'],
  ],
  ['the result of a tool', { type: 'user', timestamp: AT, message: { content: [{ type: 'tool_result' }] } }, []],
  ['words of Claude itself', { type: 'user', isMeta: true, timestamp: AT, message: { content: 'x' } }, []],
  ['a call', call({ file_path: '/workspace/a' }), ['tool Edit: /workspace/a']],
  ['a call without an input', call(undefined), ['tool Edit']],
  ['no time', { type: 'user', timestamp: 'x', message: { content: 'a' } }, []],
  ['no object', [], []],
])('%s', (_, record, expected) => {
  expect(claims(record)).toEqual(expected);
});

it('a text of any length is cut', () => {
  const [one] = claimsOfLine(JSON.stringify({ type: 'user', timestamp: AT, message: { content: 'x'.repeat(1e6) } }));
  expect(one?.text.length).toBe(301);
});

function call(input: object | undefined) {
  const content = [
    { type: 'text', text: 'I edit it.' },
    { type: 'tool_use', name: 'Edit', input },
  ];
  return { type: 'assistant', timestamp: AT, message: { content } };
}
