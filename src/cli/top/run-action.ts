import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { execFile, spawn } from '../../core/host/programs/start-program.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { openOutput } from '../../terminal/page-output.ts';
import type { CommandContext } from '../context/context.ts';
import type { TopAction } from './keys.ts';

const MAX_OUTPUT_BYTES = 64 * 1024 ** 2;

/** Runs the command of a key on the terminal. Returns what the overview prints about it. */
export async function runAction(
  { kind, id }: Exclude<TopAction, { readonly kind: 'quit' }>,
  context: CommandContext,
): Promise<string> {
  if (kind === 'stop') {
    const lines = (await printed(['stop', id])).trim().split('\n');
    return cleanLine((lines.at(-1) ?? '').replace(/^\[sandbox\] /, ''));
  }
  if (kind === 'log') {
    await using output = openOutput({ stdout: process.stdout, env: context.env, interruption: context.interruption });
    await output.write(await printed(['log', id]));
  } else {
    // Ctrl-C is for the command.
    using _lent = context.interruption.lend();
    const child = spawn(process.execPath, words([kind, id]), { stdio: 'inherit' });
    await once(child, 'close');
  }
  await untilEnter(context);
  return '';
}

/** A command of this run-claude. Node takes options for its own until `--`. */
const words = (args: readonly string[]): string[] => ['--', process.argv[1] ?? '', ...args];

function printed(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, words(args), { maxBuffer: MAX_OUTPUT_BYTES }, (_error, stdout, stderr) =>
      resolve(`${stdout}${stderr}`),
    );
    child.stdin?.end();
  });
}

/** The output stays until it was read. */
async function untilEnter({ interruption: { signal } }: CommandContext): Promise<void> {
  const { stdin, stderr } = process;
  const reader = createInterface({ input: stdin, output: stderr });
  await reader.question('[sandbox] Enter shows the overview again. ', { signal }).catch(() => undefined);
  reader.close();
}
