import { realpathSync } from 'node:fs';
import { EXIT, usageError } from '../../../errors.ts';
import { probeHost } from '../../../host/facts.ts';
import { besideSessions } from '../../../record/beside.ts';
import { sharedStatus } from '../../../record/exit-status.ts';
import { isKept } from '../../../session/kept/place.ts';
import { applyPending } from '../../../session/later/apply.ts';
import { findStoppable, stopRunning } from '../../../session/later/stop-session.ts';
import type { SessionRecord } from '../../../types/session.ts';
import type { CommandRun } from '../../context/context.ts';
import { openScreen } from '../../context/open-screen.ts';
import { recoverWithoutQuestion } from '../../context/recover-without-question.ts';

/** `down [ID]`: ends a kept session. On a terminal its changes are reviewed; otherwise they stay pending. */
export const downCommand: CommandRun = async (line, context) => {
  const { places, tell, env, interruption } = context;
  const say = (text: string): void => tell({ kind: 'message', level: 'info', text });
  const found = findStoppable(places.stateDir, line.words[0], realpathSync(context.cwd), isKept);
  const { id } = found;
  if (!isKept(found)) throw usageError(`session ${id} has an agent of its own`, `Stop it with: run-claude stop ${id}`);
  say(`Ending session ${id}...`);
  const ended = await stopRunning(found, interruption.signal, 'run-claude down');
  interruption.signal.throwIfAborted();
  const record = await recoverWithoutQuestion(ended, context);
  const screen = openScreen(process, env, interruption);
  const statuses: number[] = [];
  const folders: SessionRecord[] = [];
  for (const one of besideSessions(record)) folders.push(await recoverWithoutQuestion(one, context));
  for (const one of [record, ...folders]) {
    if (one.stage !== 'pending') {
      say(`Session ${one.id} has ended. It has no changes to apply.`);
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
