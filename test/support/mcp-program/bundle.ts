import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';

/** A directory with the server of this folder and the SDK in one file, `server.mjs`. */
export async function bundleServer(dir: string): Promise<string> {
  mkdirSync(dir, { recursive: true });
  const bundle = await rolldown({
    input: path.join(import.meta.dirname, 'server.mjs'),
    platform: 'node',
    logLevel: 'silent',
  });
  await bundle.write({ file: path.join(dir, 'server.mjs'), format: 'esm', codeSplitting: false });
  await bundle.close();
  return dir;
}
