import { PLUGIN_NAME } from './tools.ts';

/** The commands that a user types in Claude Code, as `/boxed:NAME`. */
export const TYPED_COMMANDS = [
  'status',
  'diff',
  'review',
  'apply',
  'discard',
  'explore',
  'doctor',
  'passthrough',
] as const;

export interface TypedCommand {
  readonly name: (typeof TYPED_COMMANDS)[number];
  /** The code that answers the command's question; of `apply` and `discard`. */
  readonly code: string | undefined;
}

/**
 * The command that a prompt is; undefined for any other prompt, and 'unknown' for one that only begins like a command. It
 * must be the whole prompt: a prompt that quotes another text, or that holds one more line, is none.
 */
export function typedCommand(prompt: string): TypedCommand | 'unknown' | undefined {
  const text = prompt.trim();
  if (!text.startsWith(`/${PLUGIN_NAME}:`)) return undefined;
  const match = new RegExp(`^/${PLUGIN_NAME}:([a-z]+)(?: +([0-9]{6}))?$`).exec(text);
  const name = TYPED_COMMANDS.find((one) => one === match?.[1]);
  if (name === undefined) return 'unknown';
  const code = match?.[2];
  if (code !== undefined && name !== 'apply' && name !== 'discard') return 'unknown';
  return { name, code };
}
