import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { SessionRecord } from '../../../../src/core/types/session.ts';
import { readProposal, writeProposal } from '../../../../src/session/kept/proposal.ts';

it('an agent that asks for a review in a loop has one request, of bounded size', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'proposal-'));
  const record = { plan: { sessionDir: dir, program: { kind: 'kept' } } } as unknown as SessionRecord;
  expect(readProposal(record)).toBeUndefined();
  const first = Array.from({ length: 20 }, (_, at) => writeProposal(record, `${at} `.repeat(2000), at));
  expect(first.filter(Boolean)).toHaveLength(1);
  expect(readdirSync(dir)).toEqual(['proposal']);
  expect(readProposal(record)).toEqual({ version: 1, at: '1970-01-01T00:00:00.019Z', summary: expect.any(String) });
  expect(readProposal(record)?.summary).toHaveLength(2000);
  rmSync(dir, { recursive: true });
});
