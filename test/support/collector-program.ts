import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { type Collector, speakToCollector } from '../../src/workspace/collector/client.ts';

const COMMON = ['-std=gnu11', '-Wall', '-Wextra', '-Werror'];
const FLAGS = {
  /** As the image's builder compiles it. */
  plain: ['-O2', '-static'],
  /** Ends with a report, and 99, at a wrong access or an undefined operation. */
  sanitized: ['-O1', '-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'],
  /** On a disk that fails where FAIL_SEEK or FAIL_LIST gives an error number: collector-failing.c. */
  failing: ['-O2', '-static', '-Wl,--wrap=lseek,--wrap=readdir', path.join(import.meta.dirname, 'collector-failing.c')],
};
const CACHE = path.join(import.meta.dirname, '../../node_modules/.cache/run-claude-tests');

/** The collector's program, compiled once for the same sources: no worker of the tests tells when it ends. */
export function compileCollector(how: keyof typeof FLAGS = 'plain'): string {
  const dir = path.join(import.meta.dirname, '../../images/collector');
  const names = readdirSync(dir).sort();
  const flags = [...COMMON, ...FLAGS[how]];
  const hash = createHash('sha256').update(flags.join(' '));
  for (const name of names) hash.update(`\0${name}\0`).update(readFileSync(path.join(dir, name)));
  const program = path.join(CACHE, `collector-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(program)) return program;
  mkdirSync(CACHE, { recursive: true });
  const beside = `${program}.${process.pid}`;
  const sources = names.filter((name) => name.endsWith('.c')).map((name) => path.join(dir, name));
  execFileSync('gcc', [...flags, '-o', beside, ...sources]);
  renameSync(beside, program);
  return program;
}

/** A collector as a plain process of this machine: for what needs no container. */
export async function runCollector(
  roots: Readonly<Record<string, string>>,
  {
    how = 'plain',
    env = {},
  }: { readonly how?: keyof typeof FLAGS; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<{ collector: Collector; child: ChildProcess }> {
  const args = Object.entries(roots).map(([name, dir]) => `${name}=${dir}`);
  const child = spawn(compileCollector(how), args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  return { collector: await speakToCollector(child), child };
}
