import { withLayerLock } from '../../record/layer-lock.ts';
import { readRecord, updateRecord } from '../../record/session.ts';
import type { SessionRecord } from '../../types/session.ts';
import { dropLayer } from '../../workspace/drop-layer.ts';
import type { UserDeps } from '../start/deps.ts';
import { requireEnded } from './require-ended.ts';

/**
 * `discard`: removes the session's layer; nothing of the session can be applied from then on. The next gc removes the
 * rest of it.
 *
 * @throws {RunClaudeError} LOCK_HELD while another command uses the layer; what requireEnded throws.
 */
export async function discardSession(record: SessionRecord, deps: UserDeps): Promise<void> {
  requireEnded(record);
  await withLayerLock(record.plan, 'discarding it', async () => {
    // An agent may have begun to work in it while the user was asked.
    const now = readRecord(record.plan.sessionDir) ?? record;
    requireEnded(now);
    await dropLayer(updateRecord(now, { stage: 'discarded' }).plan, undefined);
  });
  deps.tell({ kind: 'message', level: 'info', text: `Session ${record.id} is discarded.` });
}
