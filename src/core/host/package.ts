import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The directory of package.json, Dockerfile, images/ and seccomp/, with a separator at its end. It is above src/ in the
 * repository, and above dist/ in the package. */
export const packageRoot: string = findRoot(import.meta.dirname);

/** The version in package.json. */
export function ownVersion(): string {
  const text = readFileSync(path.join(packageRoot, 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

function findRoot(dir: string): string {
  if (existsSync(path.join(dir, 'Dockerfile')) || dir === path.dirname(dir)) return path.join(dir, '/');
  return findRoot(path.dirname(dir));
}
