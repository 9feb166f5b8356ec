import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findingsOf } from '../../../../src/audit/findings.ts';
import { UNREADABLE } from '../../../../src/audit/general-rules/entries.ts';
import { hitOf } from '../../../../src/audit/hit.ts';
import { readCollected, writeCollected } from '../../../../src/session/record/session.ts';

it('reads a finding about all changes back, which has no path of its own', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-manifest-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const findings = findingsOf([hitOf(UNREADABLE, '.', { detail: '2000 entries' })], undefined, []);
  writeCollected(dir, { version: 1, changes: [], findings, problems: [], withheld: [], baseEntries: 1 });
  expect(readCollected(dir).findings).toEqual(findings);
});
