import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Collector, speakToCollector } from '../src/workspace/collector.ts';

let compiled: string | undefined;

/** The collector's program as the image's builder compiles it, compiled once a test file. */
export function compileCollector(): string {
  if (compiled === undefined) {
    const sources = path.join(import.meta.dirname, '../images/collector');
    const files = readdirSync(sources).filter((name) => name.endsWith('.c'));
    compiled = path.join(mkdtempSync(path.join(tmpdir(), 'run-claude-collector-')), 'collector');
    const flags = ['-std=gnu11', '-O2', '-Wall', '-Wextra', '-Werror', '-static', '-o', compiled];
    execFileSync('gcc', [...flags, ...files.map((name) => path.join(sources, name))]);
  }
  return compiled;
}

/** A collector as a plain process of this machine: for what needs no container. */
export async function runCollector(
  roots: Readonly<Record<string, string>>,
): Promise<{ collector: Collector; child: ChildProcess }> {
  const args = Object.entries(roots).map(([name, dir]) => `${name}=${dir}`);
  const child = spawn(compileCollector(), args, { stdio: ['pipe', 'pipe', 'inherit'] });
  return { collector: await speakToCollector(child), child };
}
