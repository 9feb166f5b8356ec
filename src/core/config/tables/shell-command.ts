import { z } from 'zod';
import { parseDurationMs } from '../values/quantities.ts';

const MAX_COMMAND_CHARACTERS = 4000;

/** What the tables of a user's commands share: a name for a reader, a line for a shell, how long it may take. */
export const commandName = z
  .string()
  .max(80)
  .regex(/^\P{Cc}+$/u, 'a name without control characters');

export const commandLine = z
  .string()
  .min(1)
  .max(MAX_COMMAND_CHARACTERS)
  .refine((one) => !one.includes('\0'), 'a NUL character');

/** In milliseconds. */
export const commandTimeout = z.string().transform((words, context) => {
  const ms = parseDurationMs(words);
  if (ms !== undefined) return ms;
  context.addIssue({ code: 'custom', message: 'a duration, such as 90s or 10m' });
  return z.NEVER;
});
