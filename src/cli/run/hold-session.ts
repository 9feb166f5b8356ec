import { RunClaudeError } from '../../core/errors.ts';
import { probeHost } from '../../core/host/facts.ts';
import { distrust } from '../../core/host/programs/start-program.ts';
import type { Tell } from '../../core/types/event.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { awayDoor } from '../../session/background/away-door.ts';
import { openAwayTerminal, outputFile } from '../../session/background/away-terminal.ts';
import { type HolderTask, starterOf } from '../../session/kept/holder.ts';
import { keptDoor } from '../../session/kept/keep.ts';
import { foldersOf } from '../../session/record/find/session-folders.ts';
import { withLayer } from '../../session/record/layer-lock.ts';
import { readRecord } from '../../session/record/session.ts';
import { resumeSession, runSession } from '../../session/run.ts';
import { type SessionDeps, sessionDeps } from '../../session/stage/deps.ts';
import type { CommandContext } from '../context/context.ts';
import { openEngineOf } from '../engines/open-engine.ts';

/**
 * Runs a kept session, or one in the background, in this process, which no command waits for once the session is ready.
 * What it prints then is in the session's `holder.log`. Returns the exit status.
 */
export async function holdSession(context: CommandContext): Promise<number> {
  const { env, places, interruption } = context;
  const starter = starterOf(process, (by) => void process.kill(process.pid, by));
  let isReady = false;
  const tell: Tell = (event) => {
    if (isReady || !starter.tell({ kind: 'tell', event })) context.tell(event);
  };
  const { plan, away } = await starter.task;
  distrust(foldersOf(plan));
  try {
    const engine = await openEngineOf(plan, context);
    try {
      const onOpen = (): void => {
        starter.tell({ kind: 'ready' });
        isReady = true;
        starter.release();
      };
      const user = { host: probeHost(process, places), tell, screen: undefined, interruption };
      const deps = sessionDeps(user, engine, env);
      if (away !== undefined) {
        const status = await runAway(plan, away, deps, onOpen);
        // A short command has ended before any terminal could be shown it: `wait` and `log` tell how.
        if (!isReady) onOpen();
        return status;
      }
      const door = keptDoor(engine, plan, onOpen);
      const ended = readRecord(plan.sessionDir);
      const status =
        ended === undefined
          ? await runSession(plan, { ...deps, door })
          : await withLayer(ended, 'bringing it up again', () => resumeSession(ended, plan, { ...deps, door }));
      if (!isReady) throw endedEarly(readRecord(plan.sessionDir));
      return status;
    } finally {
      await engine.close();
    }
  } catch (error) {
    if (!isReady) {
      const { code, hint, status } =
        error instanceof RunClaudeError ? error : { code: 'HOLDER_FAILED', hint: undefined, status: 125 };
      const message = error instanceof Error ? error.message : String(error);
      starter.tell({ kind: 'failed', code, message, hint, status });
    }
    throw error;
  } finally {
    starter.release();
  }
}

async function runAway(
  plan: Plan,
  { input, report }: NonNullable<HolderTask['away']>,
  deps: SessionDeps,
  onOpen: () => void,
): Promise<number> {
  const away = openAwayTerminal({ tty: plan.tty, input, outputFile: outputFile(plan.sessionDir) });
  const door = awayDoor(plan.sessionDir, away, onOpen);
  const place =
    report && (await import('../../session/end/report/write-report.ts')).reportPlace(report.file, report.cwd);
  return runSession(plan, { ...deps, away, door, ...(place && { report: place }) });
}

function endedEarly(record: SessionRecord | undefined): RunClaudeError {
  const why = record?.stoppedBecause === undefined ? '' : `: ${record.stoppedBecause}`;
  return new RunClaudeError('HOLDER_FAILED', `the session ended before a command could be run in it${why}`);
}
