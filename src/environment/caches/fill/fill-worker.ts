import { text } from 'node:stream/consumers';
import { fillCache } from '../inside/fill-cache.ts';
import type { FillReport, FillRequest } from '../inside/request.ts';

// Runs in the container that fills a cache: reads the request, writes the archives, and reports on stdout.

const report = (line: FillReport): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
text(process.stdin)
  .then((request) => fillCache(JSON.parse(request) as FillRequest, report))
  .then(report, (error: Error) => report({ kind: 'failed', archive: '', why: error.message }));
