import { expect, it } from 'vitest';
import { processIdentity } from '../../../../src/host/process.ts';
import { requireEnded } from '../../../../src/session/later/require-ended.ts';
import type { SessionRecord } from '../../../../src/types/session.ts';
import { sessionRecord } from '../../../support/session-record.ts';

const ID = '261121-140512-k7p';

it.each<[SessionRecord['stage'], isOwned: boolean, kind: 'exec' | 'kept', message: string | undefined, hint: string]>([
  ['running', true, 'exec', 'is still running', `run-claude stop ${ID}`],
  ['running', true, 'kept', 'is still running', `run-claude down ${ID}`],
  ['planned', true, 'exec', 'is still starting', `run-claude stop ${ID}`],
  ['ended', true, 'kept', 'is still running', `run-claude down ${ID}`],
  ['running', false, 'exec', undefined, ''],
  ['planned', false, 'exec', undefined, ''],
  ['pending', true, 'exec', undefined, ''],
  ['discarded', false, 'exec', 'was discarded', `run-claude diff ${ID}`],
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
