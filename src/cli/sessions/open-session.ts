import { RunClaudeError } from '../../core/errors.ts';
import { probeHost } from '../../core/host/facts.ts';
import { distrust } from '../../core/host/programs/start-program.ts';
import { isFullDisk } from '../../core/store/remedy.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { finishApply, needsRecovery } from '../../session/later/recover-project.ts';
import { PURPOSE_OF_COMMAND, type Purpose, type SessionCommand } from '../../session/record/find/pick-session.ts';
import { foldersOf } from '../../session/record/find/session-folders.ts';
import { sessionDeps, type UserDeps } from '../../session/stage/deps.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { CommandContext } from '../context/context.ts';
import { openScreen } from '../context/open-screen.ts';
import type { CommandLineOfCommand } from '../grammar/parse-command-line.ts';
import { sessionOf } from './session-of.ts';

/**
 * Runs `body` with the session that a command line names, as {@link sessionOf} finds it. Before that, a session whose
 * command was killed is collected, which needs the engine, and an interrupted apply is finished.
 */
export async function withSession<T>(
  line: CommandLineOfCommand,
  context: CommandContext,
  command: SessionCommand,
  body: (record: SessionRecord, deps: UserDeps) => Promise<T> | T,
): Promise<T> {
  const { env, places, tell, interruption } = context;
  const purpose = PURPOSE_OF_COMMAND[command];
  let record = sessionOf(command, line.words[0], context);
  distrust(foldersOf(record.plan));
  const deps: UserDeps = {
    host: probeHost(process, places),
    tell,
    screen: openScreen(process, env, interruption),
    interruption,
  };
  // A bind session's recovery puts the user's own files back first.
  const isThrownAway = line.name === 'discard' && record.plan.mode === 'copy';
  if (isThrownAway && needsRecovery(record)) return body(record, deps);
  if (needsRecovery(record)) {
    try {
      record = await recover(record, deps, context);
    } catch (error) {
      if (!mayGoOn(error, purpose, line)) throw error;
      const { id, plan } = record;
      const engine = `its engine ${plan.engine.on ?? ''} at ${plan.engine.endpoint}`.replace('  ', ' ');
      const why = isFullDisk(error)
        ? `the disk of ${plan.sessionDir} is full. Free some space there, or throw it away with: run-claude discard ${id}`
        : `${engine} does not answer`;
      const text = `Session ${id} is not collected yet: ${why}`;
      tell({ kind: 'message', level: 'warning', text: cleanLine(text) });
    }
  }
  return body(await finishApply(record, deps), deps);
}

async function recover(record: SessionRecord, deps: UserDeps, context: CommandContext): Promise<SessionRecord> {
  // Seldom needed, and large.
  const [{ recoverSession }, { openEngineOf }] = await Promise.all([
    import('../../session/later/recover.ts'),
    import('../engines/open-engine.ts'),
  ]);
  const engine = await openEngineOf(record.plan, context);
  try {
    return await recoverSession(record, sessionDeps(deps, engine, context.env));
  } finally {
    await engine.close();
  }
}

/**
 * An engine that is out of reach, and a full disk, keep no command from showing what is known here, nor the user from
 * discarding the session.
 */
function mayGoOn(error: unknown, purpose: Purpose, { name }: CommandLineOfCommand): boolean {
  if (isFullDisk(error)) return purpose === 'look';
  if (!(error instanceof RunClaudeError) || !['ENGINE_UNREACHABLE', 'ENGINE_LOST'].includes(error.code)) return false;
  return purpose === 'look' || name === 'discard';
}
