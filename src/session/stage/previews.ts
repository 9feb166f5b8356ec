import type { Tell } from '../../core/types/event.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Gateway } from '../../network/gateway/start-gateway.ts';
import { openPreviews, type Previews } from '../../network/preview/open-previews.ts';

/**
 * Opens the pages of a session on this machine: those of its plan, and later those that are asked for. Nothing without a
 * gateway.
 *
 * @throws {RunClaudeError} PORT_TAKEN
 */
export async function openSessionPreviews(
  { sessionId, sessionDir, policy }: Plan,
  gateway: Pick<Gateway, 'openPort' | 'addToLog'>,
  tell: Tell,
): Promise<Previews> {
  if (policy.network === 'none') return { close: () => undefined };
  return openPreviews({
    sessionId,
    sessionDir,
    ports: policy.ports ?? [],
    allowedHosts: policy.allowHosts,
    openPort: (port) => gateway.openPort(port),
    log: (entry) => gateway.addToLog(entry),
    tell,
  });
}
