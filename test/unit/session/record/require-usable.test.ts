import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processIdentity } from '../../../../src/core/host/processes/process.ts';
import type { SessionRecord } from '../../../../src/core/types/session.ts';
import { findSession } from '../../../../src/session/record/find/find-session.ts';
import { withLayer } from '../../../../src/session/record/layer-lock.ts';
import { requireChanges, requireEnded, requireWork } from '../../../../src/session/record/require-usable.ts';
import { readCollected, updateRecord } from '../../../../src/session/record/session.ts';
import { recordSessions } from '../../../support/session-fixture.ts';
import { sessionRecord } from '../../../support/session-record.ts';

const ID = '261120-100000-222';
let states: string[];
beforeEach(() => {
  states = [];
});
afterEach(() => {
  for (const state of states) rmSync(state, { recursive: true, force: true });
});

/** A session in a state directory; with `failure`, its start failed before it was discarded. */
function session(stage: 'failed' | 'discarded', failure?: SessionRecord['failure']): SessionRecord {
  const state = recordSessions([{ id: ID, stage, started: '2026-11-20T10:00:00.000Z', mode: 'copy' }]);
  states.push(state);
  const record = findSession(state, ID, '/p', 'any').record;
  return failure === undefined ? record : updateRecord(record, { failure });
}

/** What each command says of it: diff and audit, apply and export and undo, commits and resume and explore. */
async function saidOf(record: SessionRecord): Promise<string[]> {
  const messageOf = async (run: () => unknown): Promise<string> => {
    try {
      await run();
    } catch (error) {
      return (error as Error).message;
    }
    return 'nothing';
  };
  return Promise.all([
    messageOf(() => readCollected(record.plan.sessionDir)),
    messageOf(() => requireChanges(record)),
    messageOf(() => requireWork(record)),
    messageOf(() => withLayer(record, 'reading it', async () => undefined)),
  ]);
}

describe('a state of a session', () => {
  const failure = { code: 'GATEWAY_FAILED', message: 'the gateway did not start' };
  const failed = `session ${ID} has no changes: it failed at its start (GATEWAY_FAILED: the gateway did not start)`;

  it('has one sentence in every command where the start failed, also after a discard', async () => {
    expect(new Set(await saidOf(session('failed', failure)))).toEqual(new Set([failed]));
    expect(new Set(await saidOf(session('discarded', failure)))).toEqual(new Set([failed]));
  });

  it('has one sentence where it was discarded, and none of a copy that is to be found', async () => {
    const [collected = '', ...others] = await saidOf(session('discarded'));
    expect(collected).toBe(`session ${ID} was discarded before its changes were collected`);
    expect(new Set(others)).toEqual(new Set([`session ${ID} was discarded`]));
  });

  it('leaves a failed one to be discarded, and a discarded one not once more', () => {
    expect(() => requireEnded(session('failed', failure))).not.toThrow();
    expect(() => requireEnded(session('discarded', failure))).toThrow(`session ${ID} was discarded`);
  });
});

const OWNED_ID = '261121-140512-k7p';

it.each<[SessionRecord['stage'], isOwned: boolean, kind: 'exec' | 'kept', message: string | undefined, hint: string]>([
  ['running', true, 'exec', 'is still running', `run-claude stop ${OWNED_ID}`],
  ['running', true, 'kept', 'is still running', `run-claude down ${OWNED_ID}`],
  ['planned', true, 'exec', 'is still starting', `run-claude stop ${OWNED_ID}`],
  ['ended', true, 'kept', 'is still running', `run-claude down ${OWNED_ID}`],
  ['running', false, 'exec', undefined, ''],
  ['planned', false, 'exec', undefined, ''],
  ['pending', true, 'exec', undefined, ''],
  ['discarded', false, 'exec', 'was discarded', 'were not collected'],
])('%s, with a command: %s, %s', (stage, isOwned, kind, message, hint) => {
  const program =
    kind === 'kept' ? ({ kind: 'kept', idleMs: 1 } as never) : ({ kind: 'exec', argv: ['make'] } as const);
  const owner = isOwned ? { owner: processIdentity() } : {};
  const record = sessionRecord({ stage, plan: { program }, ...owner });
  if (message === undefined) expect(() => requireEnded(record)).not.toThrow();
  else
    expect(() => requireEnded(record)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(message), hint: expect.stringContaining(hint) }),
    );
});
