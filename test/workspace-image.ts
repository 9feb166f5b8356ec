import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Engine } from '../src/types/engine.ts';
import { compileCollector } from './collector-program.ts';
import { testImage } from './image.ts';

/** The tests' image with the collector of this working copy in its place. */
export async function workspaceImage(engine: Engine): Promise<string> {
  const base = await testImage(engine);
  const program = compileCollector();
  const hash = createHash('sha256').update(base).update(readFileSync(program)).digest('hex').slice(0, 16);
  const tag = `run-claude-test-workspace:${hash}`;
  if (await engine.hasImage(tag)) return tag;
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-image-'));
  copyFileSync(program, path.join(dir, 'collector'));
  writeFileSync(path.join(dir, 'Dockerfile'), `FROM ${base}\nCOPY collector /usr/lib/run-claude/collector\n`);
  execFileSync('docker', ['build', '-q', '-t', tag, dir], { stdio: ['ignore', 'ignore', 'inherit'] });
  rmSync(dir, { recursive: true, force: true });
  return tag;
}
