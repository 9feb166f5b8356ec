import { z } from 'zod';
import type { TestCommand } from '../../types/test.ts';
import { parseDurationMs, TEST_TIMEOUT_MS } from '../values/quantities.ts';

const MAX_TESTS = 20;
const MAX_COMMAND_CHARACTERS = 4000;

const command = z
  .string()
  .min(1)
  .max(MAX_COMMAND_CHARACTERS)
  .refine((one) => !one.includes('\0'), 'a NUL character');

const timeout = z.string().transform((words, context) => {
  const ms = parseDurationMs(words);
  if (ms !== undefined) return ms;
  context.addIssue({ code: 'custom', message: 'a duration, such as 90s or 10m' });
  return z.NEVER;
});

/** `[[test]]`: commands that are run on the result of a session. */
export const testTables = z
  .array(
    z
      .strictObject({
        name: z.string().min(1).max(80),
        command,
        timeout: timeout.default(TEST_TIMEOUT_MS),
        'needs-network': z.boolean().default(false),
      })
      .transform(
        (table): TestCommand => ({
          name: table.name,
          command: table.command,
          timeoutMs: table.timeout,
          needsNetwork: table['needs-network'],
        }),
      ),
  )
  .max(MAX_TESTS)
  .refine((tests) => new Set(tests.map(({ name }) => name)).size === tests.length, {
    error: 'two tests have the same name',
  })
  .default([]);
