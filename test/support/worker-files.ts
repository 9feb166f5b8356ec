import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleWorker, WORKER_URL } from '../../rolldown.config.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const dir = path.join(root, 'node_modules/.cache/run-claude-tests/workers');

/**
 * Builds the files of src/ that run in threads, as the command is built: Node 20 reads no TypeScript. Gives a Vite plugin
 * that lets the modules which start them find them.
 */
export async function workerFiles() {
  mkdirSync(dir, { recursive: true });
  const sources = (readdirSync(path.join(root, 'src'), { recursive: true }) as string[]).filter((file) =>
    file.endsWith('-worker.ts'),
  );
  for (const source of sources) {
    const file = fileOf(path.basename(source, '.ts'));
    // Another test run may start threads from the same file.
    writeFileSync(`${file}.${process.pid}`, await bundleWorker(path.join(root, 'src', source)));
    renameSync(`${file}.${process.pid}`, file);
  }
  return {
    name: 'worker-files',
    enforce: 'pre' as const,
    transform(code: string): string | undefined {
      const name = WORKER_URL.exec(code)?.[1];
      return name && code.replace(WORKER_URL, `new URL('${pathToFileURL(fileOf(name)).href}')`);
    },
  };
}

function fileOf(name: string): string {
  return path.join(dir, `${name}.cjs`);
}
