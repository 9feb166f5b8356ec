import type { Screen } from '../../terminal/ask.ts';
import type { Interruption } from '../../terminal/interruption.ts';

/** The person's terminal for questions, or undefined where nobody can answer: input or messages are no terminal. */
export function openScreen(
  { stdin, stderr }: Pick<NodeJS.Process, 'stdin' | 'stderr'>,
  env: Readonly<Record<string, string | undefined>>,
  interruption: Interruption,
): Screen | undefined {
  if (!stdin.isTTY || !stderr.isTTY) return undefined;
  const term = env['TERM'] ?? 'dumb';
  const dumb = term === 'dumb' || term === '';
  return { stdin, stderr, env, dumb, colour: !dumb && (env['NO_COLOR'] ?? '') === '', interruption };
}
