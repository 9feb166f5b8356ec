import { realpathSync } from 'node:fs';
import path from 'node:path';
import { EXIT, usageError } from '../../core/errors.ts';
import { probeHost } from '../../core/host/facts.ts';
import { whenText } from '../../core/text/when.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { finishApply } from '../../session/later/recover-project.ts';
import { applyPending } from '../../session/outcome/apply.ts';
import { sharedStatus } from '../../session/record/exit-status.ts';
import { isPendingSession, pendingSessions } from '../../session/record/find/find-session.ts';
import { listSessions, readRecord } from '../../session/record/session.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { cutEnd } from '../../terminal/columns/width.ts';
import type { CommandContext } from '../context/context.ts';
import { openScreen } from '../context/open-screen.ts';
import { withEngineOf } from '../engines/with-engine.ts';
import type { CommandLineOfCommand } from '../grammar/parse-command-line.ts';
import { programText } from '../sessions/program-text.ts';
import { recoverWithoutQuestion } from '../sessions/recover-without-question.ts';
import type { BatchPlace } from './batch-place.ts';

const MAX_PROMPT_COLUMNS = 60;

/**
 * `batch --review`: asks about the pending sessions of a batch, or without one of the current project, one after the
 * other, the oldest first. Ctrl-C ends it; what was not decided stays pending.
 *
 * @throws {RunClaudeError} USAGE without a terminal; what applyPending throws
 */
export async function reviewSessions(
  line: CommandLineOfCommand,
  place: BatchPlace | undefined,
  context: CommandContext,
): Promise<number> {
  const { env, places, tell, interruption } = context;
  const say = (text: string): void => tell({ kind: 'message', level: 'info', text });
  const screen = openScreen(process, env, interruption);
  if (screen === undefined)
    throw usageError('batch --review asks on a terminal', 'Without one: run-claude apply ID --yes');
  const pending = place === undefined ? ofProject(context) : ofBatch(places.stateDir, place);
  if (pending.length === 0) {
    say(`No session of this ${place === undefined ? 'project' : 'batch'} is pending.`);
    return EXIT.ok;
  }
  const deps = withEngineOf({ host: probeHost(process, places), tell, screen, interruption }, context);
  const statuses: number[] = [];
  for (const [at, one] of pending.entries()) {
    if (interruption.signal.aborted) break;
    const record = await finishApply(await recoverWithoutQuestion(one, context), deps);
    const what = cutEnd(cleanLine(programText(record.plan.program)), MAX_PROMPT_COLUMNS);
    say(`Session ${at + 1} of ${pending.length}: ${record.id} (${whenText(record.started, Date.now())}, ${what})`);
    if (record.stage !== 'pending') {
      say(`Session ${record.id} has no changes to apply.`);
      continue;
    }
    const allowSuspect = line.options.get('allow-suspect') ?? [];
    const filter = { only: [], skip: [] };
    const { status } = await applyPending(record, deps, {
      conflict: 'ask',
      dryRun: false,
      yes: false,
      allowSuspect,
      filter,
    });
    statuses.push(status);
  }
  interruption.signal.throwIfAborted();
  const left = pending.filter(isLeft).length;
  say(left === 0 ? 'No session is left to review.' : `${left} of ${pending.length} sessions are still pending.`);
  return sharedStatus(statuses);
}

function ofProject({ places, cwd }: CommandContext): readonly SessionRecord[] {
  for (let folder = realpathSync(cwd); ; folder = path.dirname(folder)) {
    const found = pendingSessions(places.stateDir, folder);
    if (found.length > 0 || folder === path.dirname(folder)) return found.toReversed();
  }
}

/** Of all its tasks, also where their lines were changed since. */
function ofBatch(stateDir: string, { key }: BatchPlace): readonly SessionRecord[] {
  return listSessions(stateDir)
    .sessions.filter((one) => one.plan.task?.startsWith(`${key}/`) === true && isPendingSession(one))
    .toReversed();
}

function isLeft(one: SessionRecord): boolean {
  const now = readRecord(one.plan.sessionDir);
  return now !== undefined && isPendingSession(now);
}
