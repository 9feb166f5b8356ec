import { join } from 'node:path';
import type { Archive } from '../ecosystem.ts';
import { cargoIndex } from './cargo-index.ts';
import { findFiles } from './package-index.ts';
import type { FillReport, FillRequest } from './request.ts';
import { AbsentError, FetchError, saveArchive, saveBytes } from './save-archive.ts';

/** Connections to the registry. */
const CONCURRENT = 16;
const REPORT_MS = 250;

/**
 * Puts every archive of the request into the cache, or none that counts: the first failure ends it. No byte of an archive
 * is run.
 */
export async function fillCache(request: FillRequest, report: (line: FillReport) => void): Promise<FillReport> {
  const made = request.archives.filter(({ madeFrom }) => madeFrom !== undefined);
  const left = request.archives.filter(({ madeFrom }) => madeFrom === undefined).reverse();
  const stop = new AbortController();
  let bytes = 0;
  let done = 0;
  let reportedMs = 0;
  let failure: FillReport | undefined;
  const work = async (): Promise<void> => {
    for (let archive = left.pop(); archive !== undefined && failure === undefined; archive = left.pop()) {
      try {
        const files =
          archive.release === undefined
            ? [archive]
            : await findFiles(archive, archive.release, process.arch, {
                signal: stop.signal,
                stallMs: request.stallMs,
              });
        for (const file of files) {
          const size = await saveArchive(file, request, stop.signal);
          bytes += size;
        }
      } catch (error) {
        if (archive.mayBeAbsent === true && error instanceof AbsentError) {
          report({ kind: 'absent', path: archive.path });
          continue;
        }
        failure ??= { kind: 'failed', archive: archive.name, why: reasonOf(error) };
        stop.abort();
      }
      done += 1;
      if (performance.now() - reportedMs > REPORT_MS) {
        reportedMs = performance.now();
        report({ kind: 'progress', done });
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, work));
  for (const archive of failure === undefined ? made : []) {
    try {
      bytes += await saveMade(archive, request);
    } catch (error) {
      failure ??= { kind: 'failed', archive: archive.name, why: reasonOf(error) };
    }
  }
  return failure ?? { kind: 'filled', bytes };
}

const reasonOf = (error: unknown): string => (error instanceof FetchError ? error.message : 'it cannot be written');

/** Makes a file from archives that are kept. Returns its size in bytes. */
async function saveMade(archive: Archive, request: FillRequest): Promise<number> {
  const sums = new Map(request.archives.map(({ path, hash }) => [path, hash.hex]));
  const crates = (archive.madeFrom ?? []).map((path) => ({
    file: join(request.dir, path),
    sum: sums.get(path) ?? '',
  }));
  const content = await cargoIndex(crates).catch(() => {
    throw new FetchError('its manifest cannot be read', true);
  });
  return saveBytes(archive, content, request);
}
