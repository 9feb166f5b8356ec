import { homeAgent } from '../../agents/agents.ts';
import { RunClaudeError } from '../../core/errors.ts';
import type { Policy } from '../../core/types/policy.ts';
import { ask } from '../../terminal/ask.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { Screen } from '../../terminal/screen.ts';
import type { CommandContext } from '../context/context.ts';
import type { RunLine } from '../grammar/parse-command-line.ts';
import { changeConfig, configFileOf } from '../policy/change-config.ts';
import { modeQuestion } from './questions.ts';

/**
 * Asks where the agent works in this project, and keeps the answer in the user's configuration. Undefined where the user
 * ended the question. Precondition: no agent may reach that file.
 */
export async function askMode(
  { program }: Pick<RunLine, 'program'>,
  root: string,
  context: CommandContext,
  screen: Screen,
): Promise<Policy['mode'] | undefined> {
  const { tell, interruption } = context;
  const name = program.kind === 'shell' ? 'the shell' : homeAgent(program).title;
  const lines = [
    `Nothing is chosen yet for this project: where does ${name} work?`,
    '  c  on a copy: nothing reaches your files before you have seen it and agreed',
    '  o  on your own files: each edit is in your project at once, and you watch it',
  ];
  for (const text of lines) tell({ kind: 'message', level: 'info', text });
  const answer = await ask(screen, modeQuestion(cleanLine(configFileOf(context))));
  interruption.signal.throwIfAborted();
  if (answer === undefined) {
    tell({ kind: 'message', level: 'info', text: 'The session was not started.' });
    return undefined;
  }
  const mode = answer.key === 'c' ? 'copy' : 'bind';
  await keepMode(root, mode, context);
  return mode;
}

/** A configuration that cannot be written, for example one that a package manager makes, does not stop the session. */
async function keepMode(root: string, mode: Policy['mode'], context: CommandContext): Promise<void> {
  const { tell } = context;
  // Few starts write the file, or read one.
  const { withProjectMode } = await import('../../core/config/project-table.ts');
  try {
    await changeConfig(context, (text, file) => withProjectMode(text, root, mode, file));
    const text = `Kept for this project in ${configFileOf(context)}: mode = "${mode}". For one session: --copy or --bind.`;
    tell({ kind: 'message', level: 'info', text });
  } catch (error) {
    if (!(error instanceof RunClaudeError)) throw error;
    const text = `the answer is not kept: ${error.message}`;
    tell({ kind: 'message', level: 'warning', text });
  }
}
