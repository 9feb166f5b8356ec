import { EXIT, usageError } from '../../../core/errors.ts';
import { probeHost } from '../../../core/host/facts.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { stopRunning } from '../../../session/later/stop-session.ts';
import { applyPending } from '../../../session/outcome/apply.ts';
import { sharedStatus } from '../../../session/record/exit-status.ts';
import { extraFolderSessions } from '../../../session/record/extra-folder-sessions.ts';
import { isStoppable } from '../../../session/record/pick-session.ts';
import { isKept } from '../../../session/record/session.ts';
import type { CommandContext, CommandRun } from '../../context/context.ts';
import { openScreen } from '../../context/open-screen.ts';
import { recoverWithoutQuestion } from '../../sessions/recover-without-question.ts';
import { sessionOf } from '../../sessions/session-of.ts';

/** `down [ID]`: ends a kept session. On a terminal its changes are reviewed; otherwise they stay pending. */
export const downCommand: CommandRun = async (line, context) => {
  const { places, tell, env, interruption } = context;
  const say = (text: string): void => tell({ kind: 'message', level: 'info', text });
  const found = sessionOf('down', line.words[0], context);
  const { id } = found;
  if (!isKept(found)) throw usageError(`session ${id} has its own agent`, `Stop it with: run-claude stop ${id}`);
  const ended = isStoppable(found) ? await end(found, context) : found;
  interruption.signal.throwIfAborted();
  const record = await recoverWithoutQuestion(ended, context);
  const screen = openScreen(process, env, interruption);
  const statuses: number[] = [];
  const folders: SessionRecord[] = [];
  for (const one of extraFolderSessions(record)) folders.push(await recoverWithoutQuestion(one, context));
  for (const one of [record, ...folders]) {
    if (one.stage !== 'pending') {
      say(`Session ${one.id} has ended. ${ENDED_WORDS[one.stage] ?? 'It has no changes to apply.'}`);
      continue;
    }
    const yes = line.options.has('auto-apply') || one.plan.policy.autoApply;
    if (screen === undefined && !yes) {
      say(
        `Session ${one.id} has ended. Its changes are pending: run-claude diff ${one.id}, run-claude apply ${one.id}`,
      );
      statuses.push(EXIT.undecided);
      continue;
    }
    const deps = { host: probeHost(process, places), tell, screen, interruption };
    const { status } = await applyPending(one, deps, {
      conflict: yes ? 'keep' : 'ask',
      dryRun: false,
      yes,
      allowSuspect: line.options.get('allow-suspect') ?? [],
      filter: { only: [], skip: [] },
    });
    statuses.push(status);
  }
  return sharedStatus(statuses);
};

/** It may have come to its end since it was found: then its review is what the user wants of this command. */
async function end(found: SessionRecord, { tell, interruption }: CommandContext): Promise<SessionRecord> {
  tell({ kind: 'message', level: 'info', text: `Ending session ${found.id}...` });
  return stopRunning(found, interruption.signal, 'run-claude down');
}

const ENDED_WORDS: Readonly<Partial<Record<SessionRecord['stage'], string>>> = {
  discarded: 'Its changes were discarded.',
  failed: 'It had not started.',
};
