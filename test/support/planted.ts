import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { packageRoot } from './scene.ts';

/**
 * Names of programs to plant: every quoted word of the files that start programs, and every word of the sources that is
 * a program of this machine. A list by hand would lack what run-claude starts from tomorrow on.
 */
export function programNames(): readonly string[] {
  const installed = new Set((process.env['PATH'] ?? '').split(':').flatMap(namesIn));
  const names = new Set(['run-claude', 'node', 'sh', 'env', 'bash', 'readlink']);
  for (const text of sources()) {
    const starts = /programs\/start-program|[rR]unProgram|run-program/.test(text);
    for (const [, name = ''] of text.matchAll(/\b([a-z][\w.-]{0,24})\b/g)) if (installed.has(name)) names.add(name);
    if (starts) for (const [, name = ''] of text.matchAll(/'([a-z][\w.-]{0,24})'/g)) names.add(name);
  }
  return [...names];
}

/** Names of modules to plant: those of Node itself, those that package.json names, and their own dependencies. */
export function moduleNames(): readonly string[] {
  const { devDependencies } = JSON.parse(readFileSync(path.join(packageRoot, 'package.json'), 'utf8')) as {
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  const installed = namesIn(path.join(packageRoot, 'node_modules'));
  const optional = ['cpu-features', 'bufferutil', 'utf-8-validate', 'bare-fs', 'supports-color', 'encoding'];
  return [...new Set([...Object.keys(devDependencies), ...installed, ...optional, ...builtinModules])].filter(
    (name) => /^[\w@.-]+(\/[\w.-]+)?$/.test(name) && !name.startsWith('.'),
  );
}

function sources(): readonly string[] {
  const src = path.join(packageRoot, 'src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' });
  // The tables of the audit name thousands of words, and start nothing.
  const own = files.filter((file) => file.endsWith('.ts') && !file.startsWith('audit/'));
  return own.map((file) => readFileSync(path.join(src, file), 'utf8'));
}

function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(realpathSync(dir));
  } catch {
    return [];
  }
}
