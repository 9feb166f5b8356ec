import { findFiles } from './package-index.ts';
import type { FillReport, FillRequest } from './request.ts';
import { FetchError, saveArchive } from './save-archive.ts';

/** Connections to the registry. */
const CONCURRENT = 16;
const REPORT_MS = 250;

/**
 * Puts every archive of the request into the cache, or none that counts: the first failure ends it. No byte of an archive
 * is run.
 */
export async function fillCache(request: FillRequest, report: (line: FillReport) => void): Promise<FillReport> {
  const left = [...request.archives].reverse();
  const stop = new AbortController();
  let bytes = 0;
  let done = 0;
  let reportedMs = 0;
  let failure: FillReport | undefined;
  const work = async (): Promise<void> => {
    for (let archive = left.pop(); archive !== undefined && failure === undefined; archive = left.pop()) {
      try {
        const files = archive.anyOf === undefined ? [archive] : await findFiles(archive, process.arch, stop.signal);
        for (const file of files) {
          const size = await saveArchive(file, request, stop.signal);
          bytes += size;
        }
      } catch (error) {
        const why = error instanceof FetchError ? error.message : 'it cannot be written';
        failure ??= { kind: 'failed', archive: archive.name, why };
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
  return failure ?? { kind: 'filled', bytes };
}
