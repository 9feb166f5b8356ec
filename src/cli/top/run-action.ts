import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { spawn } from '../../core/host/programs/start-program.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { openOutput } from '../../terminal/page-output.ts';
import type { CommandContext } from '../context/context.ts';
import { runSelf, selfWords } from '../context/run-self.ts';
import type { TopAction } from './keys.ts';

/** A log has more than what other commands print. */
const MAX_LOG_BYTES = 64 * 1024 ** 2;

/** Runs the command of a key on the terminal. Returns what the overview prints about it. */
export async function runAction(
  { kind, id }: Exclude<TopAction, { readonly kind: 'quit' }>,
  context: CommandContext,
): Promise<string> {
  if (kind === 'stop') {
    const lines = (await runSelf(['stop', id], context.cwd)).text.split('\n');
    return cleanLine((lines.at(-1) ?? '').replace(/^\[sandbox\] /, ''));
  }
  if (kind === 'log') {
    await using output = openOutput({ stdout: process.stdout, env: context.env, interruption: context.interruption });
    const { text } = await runSelf(['log', id], context.cwd, MAX_LOG_BYTES);
    await output.write(`${text}\n`);
  } else {
    // Ctrl-C is for the command.
    using _lent = context.interruption.lend();
    const child = spawn(process.execPath, selfWords([kind, id]), { stdio: 'inherit' });
    await once(child, 'close');
  }
  await untilEnter(context);
  return '';
}

/** The output stays until it was read. */
async function untilEnter({ interruption: { signal } }: CommandContext): Promise<void> {
  const { stdin, stderr } = process;
  const reader = createInterface({ input: stdin, output: stderr });
  await reader.question('[sandbox] Enter shows the overview again. ', { signal }).catch(() => undefined);
  reader.close();
}
