import { EXIT } from '../../../core/errors.ts';
import { jsonText } from '../../../core/report/json.ts';
import type { CommandContext } from '../../context/context.ts';
import { openScreen } from '../../context/open-screen.ts';
import type { RunLine } from '../../grammar/parse-command-line.ts';
import { keepSession } from '../../run/keep-session.ts';

/** `up [PROJECT]`: starts a session without an agent, or finds the one that is up, and prints its id. */
export async function upCommand(line: RunLine, context: CommandContext): Promise<number> {
  const { tell, write, env, interruption } = context;
  const kept = await keepSession(line, context, openScreen(process, env, interruption));
  if (kept === undefined) return EXIT.interrupted;
  const { record, isNew } = kept;
  const { id, project } = record;
  const say = (text: string): void => tell({ kind: 'message', level: 'info', text });
  if (!isNew) say(`Session ${id} was up already, with the options that it was started with.`);
  say(`Run a command: run-claude exec --session ${id} -- COMMAND. End and review: run-claude down ${id}`);
  write(line.json ? jsonText({ id, project, new: isNew }) : `${id}\n`);
  return EXIT.ok;
}
