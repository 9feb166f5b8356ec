// Builds the image with what `npm run build` left in dist/, and prints its tag: for tests and for work on the image.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { connectEngine, ownerOf } from '../dist/engine/connect.js';
import { ensureImage } from '../dist/image/ensure.js';
import { withLock } from '../dist/store/lock.js';

const { env, platform } = process;
const home = homedir();
const engine = await connectEngine({ choice: 'auto', env, home, platform, owner: ownerOf('build') });
const { tag } = await ensureImage(engine, {
  env,
  cacheDir: join(env.XDG_CACHE_HOME || join(home, '.cache'), 'run-claude'),
  toolchain: process.argv.includes('--toolchain'),
  rebuild: process.argv.includes('--rebuild'),
  tell: (event) => {
    if (event.kind === 'message') process.stderr.write(`${event.text}\n`);
    if (event.kind === 'progress') process.stderr.write(`${event.what}: ${event.done}/${event.total ?? '?'}\n`);
  },
  exclusive: (file, body) => withLock(file, { what: 'building the image', waitMs: 3_600_000 }, body),
});
await engine.close();
process.stdout.write(`${tag}\n`);
