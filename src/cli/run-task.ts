import { homedir } from 'node:os';
import { findPlaces } from '../core/host/facts.ts';
import type { Tell } from '../core/types/event.ts';
import { startFailureOf } from '../session/record/start-failure.ts';
import type { FromTask, TaskOrder } from './batch/tasks/messages.ts';
import { runCommand } from './commands/run.ts';
import { chosenAgents } from './context/chosen-agents.ts';
import type { CommandContext } from './context/context.ts';
import { type IsDirectory, parseCommandLine } from './grammar/parse-command-line.ts';

/** Progress is sent this often. */
const PROGRESS_EVERY_MS = 250;

/**
 * Runs one session of a batch in this process, with the words that the batch sends. Where the batch is killed, the
 * session still runs to its end. Returns the exit status.
 */
export async function runTask(context: CommandContext, isDirectory: IsDirectory): Promise<number> {
  const send = (message: FromTask): Promise<void> =>
    new Promise((resolve) => {
      if (!process.connected) resolve();
      // Its error: the batch has ended in the meantime.
      else process.send?.(message, undefined, undefined, () => resolve());
    });
  try {
    const { words, task } = await new Promise<TaskOrder>((resolve) => {
      process.once('message', (order) => resolve(order as TaskOrder));
    });
    const line = parseCommandLine(
      words,
      isDirectory,
      await chosenAgents(findPlaces(process.env, homedir()).configDir, process.env),
    );
    if (line.kind !== 'run') throw new TypeError(`not the command line of a session: ${words.join(' ')}`);
    const isTraced = line.flags.some(({ setting }) => setting === 'trace');
    using _calls = isTraced ? (await import('./trace-calls.ts')).traceCalls(context.tell) : undefined;
    return await runCommand({ ...line, task }, { ...context, tell: telling(context.tell, send) });
  } catch (error) {
    const { code, message } = startFailureOf(error);
    await send({ kind: 'failed', message: `${code}: ${message}` });
    throw error;
  } finally {
    if (process.connected) process.disconnect();
  }
}

/** Tells the batch what the log gets, apart from most of the progress. */
function telling(tell: Tell, send: (message: FromTask) => Promise<void>): Tell {
  let lastMs = 0;
  return (event) => {
    tell(event);
    const isProgress = event.kind === 'progress';
    if (event.kind === 'trace' || event.kind === 'finding' || (isProgress && Date.now() - lastMs < PROGRESS_EVERY_MS))
      return;
    if (isProgress) lastMs = Date.now();
    void send({ kind: 'tell', event });
  };
}
