import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Collector, speakToCollector } from '../src/workspace/collector.ts';

const COMMON = ['-std=gnu11', '-Wall', '-Wextra', '-Werror'];
const FLAGS = {
  /** As the image's builder compiles it. */
  plain: ['-O2', '-static'],
  /** Ends with a report, and 99, at a wrong access or an undefined operation. */
  sanitized: ['-O1', '-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'],
};
const compiled = new Map<keyof typeof FLAGS, string>();

/** The collector's program, compiled once a test file. */
export function compileCollector(how: keyof typeof FLAGS = 'plain'): string {
  let program = compiled.get(how);
  if (program === undefined) {
    const sources = path.join(import.meta.dirname, '../images/collector');
    const files = readdirSync(sources).filter((name) => name.endsWith('.c'));
    program = path.join(mkdtempSync(path.join(tmpdir(), 'run-claude-collector-')), 'collector');
    const flags = [...COMMON, ...FLAGS[how], '-o', program];
    execFileSync('gcc', [...flags, ...files.map((name) => path.join(sources, name))]);
    compiled.set(how, program);
  }
  return program;
}

/** A collector as a plain process of this machine: for what needs no container. */
export async function runCollector(
  roots: Readonly<Record<string, string>>,
): Promise<{ collector: Collector; child: ChildProcess }> {
  const args = Object.entries(roots).map(([name, dir]) => `${name}=${dir}`);
  const child = spawn(compileCollector(), args, { stdio: ['pipe', 'pipe', 'inherit'] });
  return { collector: await speakToCollector(child), child };
}
