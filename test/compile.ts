import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from './scene.ts';

/**
 * Compiles a program of the tests, and what it imports from src, for a Node process of its own (Node 20 reads no
 * TypeScript). Gives the path of its JavaScript, in a folder named after it under node_modules/.cache.
 */
export function compileProgram(file: string): string {
  const name = path.basename(file, '.ts');
  const out = path.join(packageRoot, 'node_modules', '.cache', 'run-claude-tests', name);
  mkdirSync(out, { recursive: true });
  const config = path.join(out, 'tsconfig.json');
  const options = { noEmit: false, declaration: false, outDir: out, rootDir: packageRoot, incremental: false };
  writeFileSync(
    config,
    JSON.stringify({
      extends: path.join(packageRoot, 'tsconfig.json'),
      compilerOptions: { ...options, typeRoots: [path.join(packageRoot, 'node_modules', '@types')] },
      include: [],
      files: [file],
    }),
  );
  writeFileSync(path.join(out, 'package.json'), '{"type":"module"}');
  execFileSync(process.execPath, [path.join(packageRoot, 'node_modules/typescript/bin/tsc'), '-p', config], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return path.join(out, path.relative(packageRoot, file)).replace(/\.ts$/, '.js');
}
