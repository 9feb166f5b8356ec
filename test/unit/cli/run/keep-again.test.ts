import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { CommandContext } from '../../../../src/cli/context/context.ts';
import { restartKeptSession } from '../../../../src/cli/run/keep-session.ts';
import { readRecord, writeCollected } from '../../../../src/session/record/session.ts';
import { file, layApply } from '../../../support/apply/lay.ts';
import { sessionRecord } from '../../../support/session-record.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-keep-again-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

it('finishes an apply that was interrupted before the session goes on in its copy', async () => {
  const sides = { base: { f: file('a\n') }, session: { f: file('b\n') } };
  const scene = await layApply(path.join(root, 'project'), path.join(root, 'state'), sides);
  const { changes, sessionDir, project } = scene;
  writeCollected(sessionDir, { version: 1, changes, findings: [], problems: [], withheld: [], baseEntries: 1 });
  // The command was killed after the last step of the apply and before it wrote the record.
  expect(await scene.apply()).toEqual({ f: 'applied' });
  expect(readRecord(sessionDir)).toBeUndefined();
  const plan = { sessionId: '1', sessionDir, project: { root: project } };
  const context = {
    env: {},
    places: { stateDir: path.join(root, 'places') },
    tell: () => undefined,
    interruption: { signal: new AbortController().signal, by: () => undefined },
  } as unknown as CommandContext;
  // The plan of this record cannot be started.
  await expect(restartKeptSession(sessionRecord({ stage: 'pending', plan }), context)).rejects.toThrow();
  expect(readRecord(sessionDir)).toMatchObject({ stage: 'applied', outcome: { changes: [{ path: 'f' }] } });
});
