import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { RunClaudeError } from '../../../core/errors.ts';
import type { ContextFile } from '../files.ts';
import { PINS_FILE } from './pins-file.ts';
import { type Pins, type Published, pinsSchema, publishedSchema } from './pins-schema.ts';

/** @throws {RunClaudeError} IMAGE_PINS when the file does not have this form. */
export function readPins(files: readonly ContextFile[]): Pins {
  const text = files.find((file) => file.path === PINS_FILE)?.content.toString('utf8') ?? 'null';
  return checked(pinsSchema, JSON.parse(text));
}

/**
 * Where this package's images are published; undefined where they are not.
 *
 * @throws {RunClaudeError} IMAGE_PINS when the part does not have this form.
 */
export function readPublished(root: string): Published | undefined {
  const { published } = JSON.parse(readFileSync(join(root, PINS_FILE), 'utf8')) as { readonly published?: unknown };
  return published === undefined ? undefined : checked(publishedSchema, published);
}

function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new RunClaudeError('IMAGE_PINS', `${PINS_FILE}: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
