#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { main } from './cli/main.ts';
import { EXIT } from './errors.ts';

// A session waits for hours beside what the person works with: its heap is kept small, not quick. Looked at by V8 at
// each collection; at 200,000 files a quarter less.
setFlagsFromString('--optimize-for-size');

// A promise that never settles must not look like success.
process.exitCode = 1;
// Nobody reads any more (`| head`), or a full disk takes nothing: what was begun, a session above all, goes to its end.
let lost: NodeJS.ErrnoException | undefined;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') lost ??= error;
});
process.stderr.on('error', () => undefined);
process.once('exit', () => {
  if (lost === undefined) return;
  process.exitCode = EXIT.failed;
  process.stderr.write(`[sandbox] ERROR: not all of the output could be written: ${lost.message}\n`);
});
process.exitCode = await main(process.argv.slice(2));
