import { EXIT } from '../../core/errors.ts';
import { probeHost } from '../../core/host/facts.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { applyPending } from '../../session/outcome/apply.ts';
import { sharedStatus } from '../../session/record/exit-status.ts';
import { extraFolderSessions } from '../../session/record/find/session-folders.ts';
import type { CommandContext } from '../context/context.ts';
import { openScreen } from '../context/open-screen.ts';
import { withEngineOf } from '../engines/with-engine.ts';
import { recoverWithoutQuestion } from './recover-without-question.ts';

/** What a command line says of the review. */
export interface ReviewWishes {
  /** Apply clean changes without a question. */
  readonly autoApply: boolean;
  readonly allowSuspect: readonly string[];
}

/**
 * Reviews the changes of a session that has ended, and of the folders next to it: on a terminal by the question, otherwise
 * they stay pending. Where its command was killed they are collected first. Returns the exit status.
 */
export async function reviewEnded(
  ended: SessionRecord,
  context: CommandContext,
  { autoApply, allowSuspect }: ReviewWishes,
): Promise<number> {
  const { places, tell, env, interruption } = context;
  const say = (text: string): void => tell({ kind: 'message', level: 'info', text });
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
    const yes = autoApply || one.plan.policy.autoApply;
    if (screen === undefined && !yes) {
      say(
        `Session ${one.id} has ended. Its changes are pending: run-claude diff ${one.id}, run-claude apply ${one.id}`,
      );
      statuses.push(EXIT.undecided);
      continue;
    }
    const deps = withEngineOf({ host: probeHost(process, places), tell, screen, interruption }, context);
    const { status } = await applyPending(one, deps, {
      conflict: yes ? 'keep' : 'ask',
      dryRun: false,
      yes,
      allowSuspect,
      filter: { only: [], skip: [] },
    });
    statuses.push(status);
  }
  return sharedStatus(statuses);
}

const ENDED_WORDS: Readonly<Partial<Record<SessionRecord['stage'], string>>> = {
  discarded: 'Its changes were discarded.',
  failed: 'It had not started.',
};
