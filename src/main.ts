import { setFlagsFromString } from 'node:v8';
import { main } from './cli/main.ts';
import { EXIT } from './core/errors.ts';
import { PREFIX } from './terminal/screen.ts';

// A session runs for hours next to the user's own programs: prefer a small heap to speed. V8 reads this flag at each
// garbage collection. With 200,000 files it saves a quarter of the heap.
setFlagsFromString('--optimize-for-size');

// Node exits when the event loop is empty, even if main() is still pending. That must not look like success.
process.exitCode = 1;
// The reader of a pipe may exit (`| head`), or the disk may be full. The command, above all a session, still runs to
// its end.
let lost: NodeJS.ErrnoException | undefined;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') lost ??= error;
});
process.stderr.on('error', () => undefined);
process.once('exit', () => {
  if (lost === undefined) return;
  process.exitCode = EXIT.failed;
  process.stderr.write(`${PREFIX}ERROR OUTPUT_LOST: not all of the output could be written: ${lost.message}\n`);
});
process.exitCode = await main(process.argv.slice(2));
