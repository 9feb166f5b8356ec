import { realpathSync } from 'node:fs';
import { EXIT } from '../../errors.ts';
import { probeHost } from '../../host/facts.ts';
import { recoverSession } from '../../session/later/recover.ts';
import { needsRecovery } from '../../session/later/recover-project.ts';
import { findStoppable, stopRunning } from '../../session/later/stop-session.ts';
import { sessionDeps } from '../../session/start/deps.ts';
import type { SessionRecord } from '../../types/session.ts';
import type { CommandContext, CommandRun } from '../context/context.ts';
import { openEngine } from '../context/open-engine.ts';

/** `stop [ID]`: stops the agent of a running session from another terminal. Its changes are collected and kept. */
export const stopCommand: CommandRun = async (line, context) => {
  const { places, tell, interruption } = context;
  const say = (text: string): void => tell({ kind: 'message', level: 'info', text });
  const found = findStoppable(places.stateDir, line.words[0], realpathSync(context.cwd));
  say(`Stopping session ${found.id}...`);
  let record = await stopRunning(found, interruption.signal);
  interruption.signal.throwIfAborted();
  if (needsRecovery(record)) record = await recover(record, context);
  say(outcomeOf(record));
  return EXIT.ok;
};

/** Takes over a session whose command was killed: ends the agent and collects its changes, without a question. */
async function recover(record: SessionRecord, context: CommandContext): Promise<SessionRecord> {
  const { env, places, tell, interruption } = context;
  const engine = await openEngine(record.plan.policy.engine, context);
  try {
    const host = probeHost(process, places);
    return await recoverSession(record, sessionDeps({ host, tell, screen: undefined, interruption }, engine, env));
  } finally {
    await engine.close();
  }
}

function outcomeOf({ id, stage, plan }: SessionRecord): string {
  if (stage === 'pending') {
    return `Session ${id} is stopped. Its changes are pending: run-claude diff ${id}, run-claude apply ${id}`;
  }
  if (stage === 'failed') return `Session ${id} is stopped. Its agent had not started.`;
  if (plan.mode === 'bind') return `Session ${id} is stopped. Its changes are in the project.`;
  return `Session ${id} is stopped. It has no changes to apply.`;
}
