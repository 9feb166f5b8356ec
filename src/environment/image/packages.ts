import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { openProgress } from '../../core/progress/open-progress.ts';
import type { Watch } from './base.ts';
import { runNpm } from './npm.ts';
import type { PinnedPackage } from './pins/pins-schema.ts';

interface PackageWatch extends Watch {
  /** What is downloaded, for the user: 'Downloading codex'. */
  readonly what: string;
  /** What names the hashes: 'images/pins.json'. */
  readonly from: string;
}

/**
 * Fetches the packages that are not in `dir` yet, with the user's npm (its registry, proxy and certificates),
 * and checks every one against its pinned hash.
 *
 * @returns the path of each, by its name in the build context.
 * @throws RunClaudeError PACKAGE_FETCH_FAILED, PACKAGE_TAMPERED.
 */
export async function fetchPackages(
  packages: readonly PinnedPackage[],
  dir: string,
  { tell, signal, what, from }: PackageWatch,
): Promise<ReadonlyMap<string, string>> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const paths = new Map<string, string>();
  using progress = openProgress(tell, what);
  for (const [index, pinned] of packages.entries()) {
    progress.count({ done: index, total: packages.length, unit: 'steps' }, `${pinned.name} ${pinned.version}`);
    const path = join(dir, `${pinned.name.replaceAll(/[@/]/g, '_')}-${pinned.version}.tgz`);
    if ((await integrityOf(path)) !== pinned.integrity) await fetchOne(pinned, { dir, path, signal, from });
    paths.set(pinned.file, path);
  }
  return paths;
}

async function fetchOne(
  pinned: PinnedPackage,
  { dir, path, signal, from }: Pick<PackageWatch, 'signal' | 'from'> & { readonly dir: string; readonly path: string },
): Promise<void> {
  const spec = `${pinned.name}@${pinned.version}`;
  // npm runs in an empty directory, so that no project's .npmrc is read.
  const scratch = await mkdtemp(join(dir, 'fetch-'));
  try {
    const argv = ['pack', spec, '--ignore-scripts', '--loglevel=error'];
    await runNpm(argv, { cwd: scratch, doing: `fetch ${spec}`, signal });
    const file = (await readdir(scratch)).find((name) => name.endsWith('.tgz'));
    if (file === undefined) throw new RunClaudeError('PACKAGE_FETCH_FAILED', `npm fetched nothing for ${spec}`);
    if ((await integrityOf(join(scratch, file))) !== pinned.integrity) {
      throw new RunClaudeError('PACKAGE_TAMPERED', `${spec} is not the package that is pinned`, {
        hint: `The registry served other bytes than ${from} names; nothing of it was used.`,
      });
    }
    await rename(join(scratch, file), path);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The newest version in the registry, or undefined when the registry does not answer quickly. */
export async function newestVersion(name: string, dir: string): Promise<string | undefined> {
  try {
    const printed = await runNpm(['view', name, 'version'], { cwd: dir, doing: `look up ${name}`, timeoutMs: 10_000 });
    return /^\d+\.\d+\.\d+$/.exec(printed.trim())?.[0];
  } catch {
    return undefined;
  }
}

async function integrityOf(path: string): Promise<string | undefined> {
  const hash = createHash('sha512');
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  return `sha512-${hash.digest('base64')}`;
}
