import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PINS_FILE, pinsOfImage } from './pins/pins-file.ts';

/** One file of the build context, by its path there. */
export interface ContextFile {
  readonly path: string;
  readonly content: Buffer;
}

/** The Dockerfile and everything in images/, sorted by path; of the pins, those that the image is made of. */
export function readImageFiles(root: string): readonly ContextFile[] {
  const paths = readdirSync(join(root, 'images'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replace(/^\//, ''));
  return ['Dockerfile', ...paths].sort().map((path) => {
    const content = readFileSync(join(root, path));
    return { path, content: path === PINS_FILE ? pinsOfImage(content) : content };
  });
}

/** The image's address: the same files, pins, certificates and variant give the same tag on every machine. */
export function imageTag(files: readonly ContextFile[], variant: Readonly<Record<string, string>>): string {
  const hash = createHash('sha256');
  for (const { path, content } of files) hash.update(`${path}\0${content.length}\0`).update(content);
  for (const [name, value] of Object.entries(variant).sort()) hash.update(`${name}=${value}\0`);
  return `run-claude:${hash.digest('hex').slice(0, 16)}`;
}
