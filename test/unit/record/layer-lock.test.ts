import { expect, it } from 'vitest';
import { findSession } from '../../../src/record/find-session.ts';
import { withLayer } from '../../../src/record/layer-lock.ts';
import { recordSessions } from '../../support/session-fixture.ts';

it.each([
  ['pending', 'can still be seen and applied from its record'],
  ['discarded', 'can still be seen from its record'],
] as const)('says what can be done with a %s session whose copy no longer exists', async (stage, hint) => {
  const id = '261120-100000-222';
  const state = recordSessions([{ id, stage, started: '2026-11-20T10:00:00.000Z', mode: 'bind' }]);
  const gone = withLayer(findSession(state, id, '/p', 'any').record, 'explore', async () =>
    expect.unreachable('it has no copy'),
  );
  await expect(gone).rejects.toMatchObject({ code: 'LAYER_GONE', hint: expect.stringContaining(hint) });
});
