import { z } from 'zod';
import { RunClaudeError } from '../errors.ts';
import type { ContextFile } from './files.ts';

const pinnedPackage = z.strictObject({
  file: z.string(),
  name: z.string(),
  version: z.string(),
  integrity: z.string().startsWith('sha512-'),
});

const pinsSchema = z.strictObject({
  debian: z.strictObject({ release: z.string(), reference: z.string(), mirror: z.string(), security: z.string() }),
  claudeVersion: z.string(),
  packages: z.record(z.string(), z.array(pinnedPackage)),
});

/** images/pins.json: every version that the image is made of. */
export type Pins = z.infer<typeof pinsSchema>;

/** An npm package by version and integrity hash, and its file's name in the build context. */
export type PinnedPackage = z.infer<typeof pinnedPackage>;

/** @throws RunClaudeError IMAGE_PINS when the file does not have this form. */
export function readPins(files: readonly ContextFile[]): Pins {
  const text = files.find((file) => file.path === 'images/pins.json')?.content.toString('utf8') ?? 'null';
  const parsed = pinsSchema.safeParse(JSON.parse(text));
  if (!parsed.success) throw new RunClaudeError('IMAGE_PINS', `images/pins.json: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
