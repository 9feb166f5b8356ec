import { buffer } from 'node:stream/consumers';
import { readsPromptFromInput } from '../../agents/agents.ts';
import { usageError } from '../../core/errors.ts';
import type { Tell } from '../../core/types/event.ts';
import type { Plan } from '../../core/types/plan.ts';
import { type HolderTask, startHolder } from '../../session/kept/holder.ts';
import type { CommandContext } from '../context/context.ts';

/** How long a start may take until its id is printed: a fault of the first seconds is reported by this command. */
const WATCHED_MS = 1500;
/** No prompt is longer. */
const MAX_INPUT_BYTES = 10 * 1024 ** 2;

/**
 * Starts an agreed session in the background, prints its id, and leaves it to its keeper. Returns the exit status.
 *
 * @throws {RunClaudeError} what fails within WATCHED_MS.
 */
export async function startAway(plan: Plan, context: CommandContext): Promise<number> {
  const { tell, interruption, env, write, cwd } = context;
  const input = readsPromptFromInput(plan.program) ? await inputOf(process.stdin) : undefined;
  const { report } = plan.policy;
  const away: HolderTask['away'] = {
    ...(input && { input }),
    ...(report === undefined ? {} : { report: { file: report, cwd } }),
  };
  const options = { tell: warningsOnly(tell), signal: interruption.signal, env, leaveAfterMs: WATCHED_MS };
  await startHolder({ plan, away }, options);
  const { sessionId: id } = plan;
  const say = (text: string): void => tell({ kind: 'message', level: 'info', text });
  const leave = plan.tty ? ' (Ctrl-P Ctrl-Q leaves it)' : '';
  say(`Session ${id} is in the background. Show it here: run-claude attach ${id}${leave}`);
  say(`What it does: run-claude log ${id} --follow. Stop it: run-claude stop ${id}`);
  write(`${id}\n`);
  return 0;
}

async function inputOf(stdin: NodeJS.ReadStream): Promise<Buffer> {
  const input = await buffer(stdin);
  if (input.length <= MAX_INPUT_BYTES) return input;
  throw usageError('the prompt is longer than 10 MB', 'Write it into a file of the project, and name the file.');
}

/** Bars would stay where they are when this command ends. */
function warningsOnly(tell: Tell): Tell {
  return (event) => {
    if (event.kind === 'message' && event.level !== 'info') tell(event);
  };
}
