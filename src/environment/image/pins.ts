import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { RunClaudeError } from '../../core/errors.ts';
import type { ContextFile } from './files.ts';
import { PINS_FILE, pinsOfImage } from './pins-file.ts';

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);

const pinnedPackage = z.strictObject({
  file: z.string(),
  name: z.string(),
  version: z.string(),
  integrity: z.string().startsWith('sha512-'),
});

const publishedSchema = z.strictObject({
  /** Registry and name, without a tag. */
  repository: z.string(),
  /** By architecture: the address of the image that was published, and its digest in the registry. */
  images: z.record(z.string(), z.strictObject({ address: z.string(), digest })),
});

const pinsSchema = z.strictObject({
  debian: z.strictObject({
    release: z.string(),
    reference: z.string(),
    /** By architecture. An architecture without one is fetched by the reference's tag. */
    digests: z.record(z.string(), digest).optional(),
    mirror: z.string(),
    security: z.string(),
  }),
  claudeVersion: z.string(),
  packages: z.record(z.string(), z.array(pinnedPackage)),
});

/** images/pins.json: every version that the image is made of. */
export type Pins = z.infer<typeof pinsSchema>;

/** An npm package by version and integrity hash, and its file's name in the build context. */
export type PinnedPackage = z.infer<typeof pinnedPackage>;

/** Where images of this version of run-claude can be fetched. */
export type Published = z.infer<typeof publishedSchema>;

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

/**
 * The version of Claude Code that a package of run-claude pins.
 *
 * @throws {RunClaudeError} IMAGE_PINS when the file does not have this form.
 */
export function pinnedClaudeVersion(root: string): string {
  const content = pinsOfImage(readFileSync(join(root, PINS_FILE)));
  return readPins([{ path: PINS_FILE, content }]).claudeVersion;
}

function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new RunClaudeError('IMAGE_PINS', `${PINS_FILE}: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
