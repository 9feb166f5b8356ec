import { z } from 'zod';
import type { TestCommand } from '../../types/test.ts';
import { TEST_TIMEOUT_MS } from '../values/quantities.ts';
import { commandLine, commandName, commandTimeout } from './shell-command.ts';

const MAX_TESTS = 20;

/** `[[test]]`: commands that are run on the result of a session. */
export const testTables = z
  .array(
    z
      .strictObject({
        name: commandName,
        command: commandLine,
        timeout: commandTimeout.default(TEST_TIMEOUT_MS),
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
