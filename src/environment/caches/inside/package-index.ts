import { isOfPackage } from '../../../core/text/python-release.ts';
import type { Archive, ReleaseFiles } from '../ecosystem.ts';
import { FetchError, type FetchLimits, fetchBody, withRetries } from './save-archive.ts';

const MAX_INDEX_BYTES = 64 * 1024 ** 2;
const FILE = /^[A-Za-z0-9][A-Za-z0-9_.+!-]{0,250}\.(?:whl|tar\.gz|zip)$/;
const MACHINES: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' };

interface IndexFile {
  readonly filename: string;
  readonly url: string;
  readonly hashes: { readonly sha256?: unknown };
}

/**
 * The files of a package that its lock file has hashes of, as the index of the registry names them (PEP 691): wheels that
 * this machine can use, or else the source archives. Each is compared with its hash when it is fetched.
 *
 * @throws {FetchError}
 */
export async function findFiles(
  archive: Archive,
  release: ReleaseFiles,
  arch: string,
  limits: FetchLimits,
): Promise<Archive[]> {
  const index = await withRetries(limits.signal, () => fetchIndex(archive.url, limits));
  const found = filesOf(index, archive, release);
  const wheels = found.filter(({ path }) => fits(path, MACHINES[arch] ?? arch));
  const files = wheels.length > 0 ? wheels : found.filter(({ path }) => !path.endsWith('.whl'));
  if (files.length === 0) throw new FetchError('the registry has no file with a hash of the lock file', true);
  return files;
}

async function fetchIndex(url: string, limits: FetchLimits): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of await fetchBody(url, limits, 'application/vnd.pypi.simple.v1+json')) {
    bytes += piece.byteLength;
    if (bytes > MAX_INDEX_BYTES) throw new FetchError('the index of the registry is larger than 64 MB', true);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function filesOf(text: string, { name, url }: Archive, release: ReleaseFiles): Archive[] {
  let index: unknown;
  try {
    index = JSON.parse(text);
  } catch {
    throw new FetchError('the index of the registry is not JSON', true);
  }
  const files: unknown = typeof index === 'object' && index !== null ? Reflect.get(index, 'files') : undefined;
  if (!Array.isArray(files)) throw new FetchError('the index of the registry names no files', true);
  return (files as readonly IndexFile[]).flatMap((file): Archive[] => {
    const hex = file?.hashes?.sha256;
    if (typeof hex !== 'string' || !release.sha256.includes(hex)) return [];
    if (typeof file.filename !== 'string' || !FILE.test(file.filename) || !URL.canParse(file.url, url)) return [];
    // pip finds a file by its name: under the name of another package, it would be offered for that one.
    if (!isOfPackage(file.filename, release.package, release.version)) return [];
    return [{ name, url: new URL(file.url, url).href, hash: { name: 'sha256', hex }, path: file.filename }];
  });
}

/** Whether a wheel is for any machine, or for Linux with glibc on this one. */
function fits(file: string, machine: string): boolean {
  const platforms = /-([^-]+)\.whl$/.exec(file)?.[1]?.split('.') ?? [];
  return platforms.some((one) => one === 'any' || (/^(?:many)?linux/.test(one) && one.endsWith(`_${machine}`)));
}
