import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { build } from 'rolldown';
import { bundling } from '../../rolldown.config.mjs';
import { packageRoot } from './scene.ts';

/**
 * Compiles a program of the tests, and what it imports from src, for a Node process of its own (Node 20 reads no
 * TypeScript), as the command itself is built. Returns the path of its JavaScript, below node_modules/.cache.
 */
export async function compileProgram(source: string): Promise<string> {
  const name = `${path.basename(source, '.ts')}.mjs`;
  const file = path.join(packageRoot, 'node_modules', '.cache', 'run-claude-tests', name);
  await build({ ...bundling, input: source, output: { file, format: 'esm', codeSplitting: false } });
  return file;
}

/** Compiles one of test/support/apply-shim, to be preloaded into a program; its source documents what it does. */
export function compileShim(file: string, source: 'shim.c' | 'log.c' | 'follow-link.c' | 'xstate.c' = 'shim.c'): void {
  const words = ['-shared', '-fPIC', '-O1', '-o', file, path.join(packageRoot, 'test/support/apply-shim', source)];
  execFileSync('cc', [...words, '-ldl', '-lpthread']);
}
