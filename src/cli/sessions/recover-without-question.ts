import { probeHost } from '../../core/host/facts.ts';
import { distrust } from '../../core/host/programs/start-program.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { recoverSession } from '../../session/later/recover.ts';
import { needsRecovery } from '../../session/later/recover-project.ts';
import { foldersOf } from '../../session/record/find/session-folders.ts';
import { sessionDeps } from '../../session/stage/deps.ts';
import type { CommandContext } from '../context/context.ts';
import { openEngineOf } from '../engines/open-engine.ts';

/**
 * A session whose command was killed is taken over: its agent is ended and its changes are collected. Any other is
 * returned as it is. From here on, no program comes from the session's folders: what is applied there may be one.
 */
export async function recoverWithoutQuestion(record: SessionRecord, context: CommandContext): Promise<SessionRecord> {
  distrust(foldersOf(record.plan));
  if (!needsRecovery(record)) return record;
  const { env, places, tell, interruption } = context;
  const engine = await openEngineOf(record.plan, context);
  try {
    const host = probeHost(process, places);
    return await recoverSession(record, sessionDeps({ host, tell, screen: undefined, interruption }, engine, env));
  } finally {
    await engine.close();
  }
}
