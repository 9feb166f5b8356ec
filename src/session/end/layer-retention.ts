import { RunClaudeError } from '../../core/errors.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { CollectedRecord, SessionRecord } from '../../core/types/session.ts';
import { dropLayer, hasLayer } from '../../workspace/view/drop-layer.ts';
import { readCollected, readRecord, wasCollected } from '../record/session.ts';
import type { SessionDeps } from '../stage/deps.ts';

const DAY_MS = 86_400_000;
/** How long a layer that still holds something is kept after its session was applied. */
const KEPT_DAYS = 14;

/**
 * Why a session's layer can be removed: its session was discarded, failed, was applied in full, or was applied two weeks
 * ago. Undefined while the layer is needed; the layer of a pending session always is.
 */
export function layerRemovalReason(record: SessionRecord, nowMs: number): string | undefined {
  if (!hasLayer(record.plan.sessionDir)) return undefined;
  if (record.stage === 'discarded') return 'its session was discarded';
  if (record.stage === 'failed') return 'its session failed';
  if (record.stage !== 'applied') return undefined;
  const days = Math.floor((nowMs - Date.parse(record.updated)) / DAY_MS);
  if (days >= KEPT_DAYS) return `its session was applied ${days} days ago`;
  return holdsMore(record) ? undefined : 'all of it was applied';
}

/** At the end of a session: removes its layer unless it is still needed. A failure leaves it to the next gc. */
export async function dropUnneededLayer(plan: Plan, { engine, tell }: SessionDeps): Promise<void> {
  const record = readRecord(plan.sessionDir);
  if (record === undefined || layerRemovalReason(record, Date.now()) === undefined) return;
  await dropLayer(plan, engine).catch((error: Error) => tell({ kind: 'trace', text: `layer: ${error.message}` }));
}

/** Whether only the layer has something in full: commits, withheld output or blocked entries. */
function holdsMore(record: SessionRecord): boolean {
  if (record.bound !== undefined) return record.bound.commits !== false;
  const collected = collectedIfReadable(record.plan.sessionDir);
  // Where there is no readable list of the changes, only the layer has them.
  if (collected === undefined) return true;
  const { changes, withheld } = collected;
  const commits = changes.some(
    ({ path, inGit }) => inGit === true && /(^|\/)(refs\/|packed-refs$|objects\/)/.test(path),
  );
  const hasRest = record.outcome?.changes.some(({ verdict }) => verdict !== 'applied' && verdict !== 'same') ?? false;
  return commits || withheld.length > 0 || hasRest || changes.some(({ ignored }) => ignored === true);
}

function collectedIfReadable(sessionDir: string): CollectedRecord | undefined {
  try {
    return wasCollected(sessionDir) ? readCollected(sessionDir) : undefined;
  } catch (error) {
    if (error instanceof RunClaudeError) return undefined;
    throw error;
  }
}
