#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { main } from './cli/main.ts';

// A session waits for hours beside what the person works with: its heap is kept small, not quick. Looked at by V8 at
// each collection; at 200,000 files a quarter less.
setFlagsFromString('--optimize-for-size');

// A promise that never settles must not look like success.
process.exitCode = 1;
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // The reader has gone (`| head`): nobody is left to tell, and what was begun, a session above all, goes to its end.
    if (error.code !== 'EPIPE') throw error;
  });
}
process.exitCode = await main(process.argv.slice(2));
