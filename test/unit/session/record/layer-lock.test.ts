import { expect, it } from 'vitest';
import { findSession } from '../../../../src/session/record/find/find-session.ts';
import { withLayer } from '../../../../src/session/record/layer-lock.ts';
import { recordSessions } from '../../../support/session-fixture.ts';

it('says what can be done with a session whose copy was removed', async () => {
  const id = '261120-100000-222';
  const state = recordSessions([{ id, stage: 'pending', started: '2026-11-20T10:00:00.000Z', mode: 'bind' }]);
  const gone = withLayer(findSession(state, id, '/p', 'any').record, 'explore', async () =>
    expect.unreachable('it has no copy'),
  );
  const hint = expect.stringContaining('You can still use diff, apply and undo');
  await expect(gone).rejects.toMatchObject({ code: 'LAYER_GONE', hint });
});
