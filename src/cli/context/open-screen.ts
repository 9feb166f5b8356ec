import type { Interruption } from '../../terminal/interruption.ts';
import type { Screen } from '../../terminal/screen.ts';

/** The terminal for questions; undefined where stdin or stderr is not a terminal, so that no user can answer. */
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
