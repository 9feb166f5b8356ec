import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { RunClaudeError } from '../errors.ts';

/** One file of the build context, by its path there. */
export interface ContextFile {
  readonly path: string;
  readonly content: Buffer;
}

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

/** The Dockerfile and everything in images/, sorted by path. */
export function readImageFiles(root: string): readonly ContextFile[] {
  const paths = readdirSync(join(root, 'images'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replace(/^\//, ''));
  return ['Dockerfile', ...paths].sort().map((path) => ({ path, content: readFileSync(join(root, path)) }));
}

/** @throws RunClaudeError IMAGE_PINS when the file does not say what the image is made of. */
export function readPins(files: readonly ContextFile[]): Pins {
  const text = files.find((file) => file.path === 'images/pins.json')?.content.toString('utf8') ?? 'null';
  const parsed = pinsSchema.safeParse(JSON.parse(text));
  if (!parsed.success) throw new RunClaudeError('IMAGE_PINS', `images/pins.json: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** The image's address: the same files, pins, certificates and variant give the same tag on every machine. */
export function imageTag(files: readonly ContextFile[], variant: Readonly<Record<string, string>>): string {
  const hash = createHash('sha256');
  for (const { path, content } of files) hash.update(`${path}\0${content.length}\0`).update(content);
  for (const [name, value] of Object.entries(variant).sort()) hash.update(`${name}=${value}\0`);
  return `run-claude:${hash.digest('hex').slice(0, 16)}`;
}
