// Modules of src/ for a benchmark that needs more than the command: dist/ exports no parts.
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { bundling } from '../rolldown.config.mjs';

const root = path.dirname(import.meta.dirname);

/**
 * Bundles modules as the command is bundled and imports them; the bundle is removed when the process ends.
 * @param {string[]} files paths below src/
 * @returns {Promise<any[]>} their exports, in the same order
 */
export async function loadSource(...files) {
  const dir = path.join(root, 'node_modules/.cache/bench', String(process.pid));
  mkdirSync(dir, { recursive: true });
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
  const input = Object.fromEntries(files.map((file, at) => [`entry${at}`, path.join(root, 'src', file)]));
  const bundle = await rolldown({ ...bundling, input, cwd: root, logLevel: 'warn' });
  await bundle.write({ dir, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' });
  await bundle.close();
  return Promise.all(files.map((_, at) => import(pathToFileURL(path.join(dir, `entry${at}.mjs`)).href)));
}
