import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RunClaudeError } from '../../../src/core/errors.ts';
import { refresh } from '../workspace/refresh-scene.ts';

// A project on a disk where letter case counts, its private copy on one that folds it, as root under a kernel of the
// test's own. argv: the file for the results.
const dir = '/mnt/scene';
const project = path.join(dir, 'project');
mkdirSync(path.join(dir, 'base'), { recursive: true });
const script = 'truncate -s 64M /mnt/image; mkfs.jfs -q -O /mnt/image; mount -o loop /mnt/image "$1"';
execFileSync('sh', ['-euc', script, 'sh', path.join(dir, 'base')], { stdio: ['ignore', 'inherit', 'inherit'] });

const results: Record<string, unknown> = {};
let sessions = 0;
async function attempt(name: string): Promise<void> {
  sessions += 1;
  try {
    const tree = path.join((await refresh(dir, `s${sessions}`)).dir, 'tree');
    results[name] = Object.fromEntries(
      readdirSync(path.join(tree, 'in')).map((one) => [one, readFileSync(path.join(tree, 'in', one), 'utf8')]),
    );
  } catch (error) {
    const { code, message, hint } = error as RunClaudeError;
    results[name] = { code, message, hint };
  }
}
const put = (name: string, text: string): void => writeFileSync(path.join(project, 'in', name), text);

mkdirSync(path.join(project, 'in'), { recursive: true });
put('Twin', 'one\n');
await attempt('single');
renameSync(path.join(project, 'in/Twin'), path.join(project, 'in/twin'));
await attempt('renamed');
put('TWIN', 'two\n');
await attempt('files');
rmSync(path.join(project, 'in/TWIN'));
mkdirSync(path.join(project, 'IN'));
await attempt('folders');
writeFileSync(process.argv[2] ?? '', JSON.stringify(results));
