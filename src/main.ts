#!/usr/bin/env node
import { main } from './cli/main.ts';

// A promise that never settles must not look like success.
process.exitCode = 1;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader has gone (`run-claude sessions | head`): nobody is left to tell.
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.exitCode = await main(process.argv.slice(2));
