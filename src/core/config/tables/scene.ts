import { z } from 'zod';
import type { SceneCommand } from '../../types/scene.ts';
import { commandLine, commandName, commandTimeout } from './shell-command.ts';

const MAX_SCENES = 20;
const DEFAULT_TIMEOUT_MS = 60_000;

/** The observer gets them as one word with ':' between them. */
const names = (pattern: RegExp, what: string) => z.array(z.string().max(200).regex(pattern, what)).max(50).default([]);

/** `[[scene]]`: commands that a rehearsal tries besides its own. */
export const sceneTables = z
  .array(
    z
      .strictObject({
        name: commandName,
        command: commandLine,
        files: names(/^(?!\/)(?!(?:.*\/)?\.\.(?:\/|$))[^:\p{Cc}]+$/u, 'a path in the project, without a colon'),
        tools: names(/^[\w.+@-]+$/, 'the name of a program'),
        timeout: commandTimeout.default(DEFAULT_TIMEOUT_MS),
      })
      .transform(({ timeout, ...table }): SceneCommand => ({ ...table, timeoutMs: timeout })),
  )
  .max(MAX_SCENES)
  .refine((scenes) => new Set(scenes.map(({ name }) => name)).size === scenes.length, {
    error: 'two scenes have the same name',
  })
  .default([]);
