import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { parseWorkspaceRecord } from '../../../../src/workspace/layer/workspace-record.ts';

const generation = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-record-')));
writeFileSync(path.join(generation, 'manifest'), '');
afterAll(() => rmSync(generation, { recursive: true }));

const rules = { exclude: ['*.key'], include: [], mask: [] };
const record = { version: 1, strategy: 'layers', generation, entries: 3, rules };

it('reads a record as it was written', () => {
  expect(parseWorkspaceRecord(record)).toEqual(record);
  const leftOut = ['run/socket'];
  expect(parseWorkspaceRecord({ ...record, leftOut })).toEqual({ ...record, leftOut });
  const volume = { volume: 'v', place: 'g1', nonce: 'n' };
  expect(parseWorkspaceRecord({ ...record, strategy: 'volume', volume })).toEqual({
    ...record,
    strategy: 'volume',
    volume,
  });
});

it.each([
  ['a strategy that was removed', { strategy: 'overlay', generation: '' }, /no strategy 'overlay'/],
  ['another version', { version: 2 }, /another version/],
  ['no generation', { generation: '' }, /no base generation/],
  ['a relative generation', { generation: 'gen/1' }, /no base generation/],
  ['a count that is none', { entries: '3' }, /number of entries/],
  ['rules that are none', { rules: { exclude: [1], include: [], mask: [] } }, /no rules/],
  ['paths left out that are none', { leftOut: 'run/socket' }, /what was left out/],
  ['a volume without a name', { volume: { place: 'g1', nonce: 'n' } }, /engine's volume/],
])('refuses a record with %s, and names what still works', (_, change, why) => {
  const refused = expect.objectContaining({
    code: 'RECORD_VERSION',
    message: expect.stringMatching(why),
    hint: expect.stringContaining('review, apply or discard'),
  });
  expect(() => parseWorkspaceRecord({ ...record, ...change })).toThrow(refused);
});

it('refuses a session without a workspace, or without its base generation', () => {
  expect(() => parseWorkspaceRecord(undefined)).toThrow(expect.objectContaining({ code: 'WORKSPACE_GONE' }));
  const removed = { ...record, generation: path.join(generation, 'removed') };
  expect(() => parseWorkspaceRecord(removed)).toThrow(expect.objectContaining({ code: 'WORKSPACE_GONE' }));
});
