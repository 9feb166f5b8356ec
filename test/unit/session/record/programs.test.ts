import { expect, it } from 'vitest';
import { parseRecord } from '../../../../src/core/store/parse-record.ts';
import { AGENT_NAMES } from '../../../../src/core/types/agent/agent-package.ts';
import { SESSION_FORMAT } from '../../../../src/session/record/formats/session-format.ts';
import { sessionRecord } from '../../../support/session-record.ts';

const read = (kind: string) => {
  const record = sessionRecord({ plan: { program: { kind, args: ['a'], print: false } as never } });
  return parseRecord(JSON.parse(JSON.stringify(record)), SESSION_FORMAT, 'session.json').plan.program;
};

it.each(AGENT_NAMES)('a session of %s can be read', (kind) => {
  expect(read(kind)).toEqual({ kind, args: ['a'], print: false });
});

it('a session of an unknown agent cannot', () => {
  expect(() => read('nobody')).toThrow(/program/);
});
