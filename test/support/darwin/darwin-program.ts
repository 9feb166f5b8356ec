import { existsSync, mkdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { removeTree } from '../../../src/core/host/files/remove-tree.ts';
import { runGitSync } from '../../../src/core/host/git.ts';
import { processIdentity, processState } from '../../../src/core/host/processes/process.ts';
import { withLock } from '../../../src/core/store/lock.ts';
import { dir, file, layApply, link } from '../apply/lay.ts';
import { refresh } from '../workspace/refresh-scene.ts';

// What a session does on the host, in a process that takes itself for one on macOS: two generations of the copy, an
// apply, its undo, a lock, git, and the removal of it all.
// argv: an empty directory, the file for the results.
const [root = '', resultFile = ''] = process.argv.slice(2);

async function generations(): Promise<unknown> {
  const project = path.join(root, 'project');
  mkdirSync(path.join(project, 'folder'), { recursive: true });
  writeFileSync(path.join(project, 'folder/f'), 'content');
  symlinkSync('folder/f', path.join(project, 'to-file'));
  symlinkSync('nowhere', path.join(project, 'dangling'));
  const first = await refresh(root, 'first');
  writeFileSync(path.join(project, 'new'), 'new');
  const next = await refresh(root, 'next');
  const links = ['to-file', 'dangling'].map((name) => readlinkSync(path.join(next.dir, 'tree', name)));
  const isNew = existsSync(path.join(next.dir, 'tree/new')) && !existsSync(path.join(first.dir, 'tree/new'));
  return { links, isNew };
}

async function applyAndUndo(): Promise<unknown> {
  const base = {
    plain: file('plain\n'),
    Case: file('case\n'),
    gone: file('gone\n'),
    to: link('plain'),
    mode: file('m'),
  };
  const session = {
    plain: file('PLAIN\n'),
    case: file('case\n'),
    to: link('made/in'),
    mode: file('m', 0o755),
    made: dir,
    'made/in': file('in\n'),
  };
  const scene = await layApply(path.join(root, 'applied'), path.join(root, 'state'), { base, session });
  const before = JSON.stringify(scene.now());
  const verdicts = [...new Set(Object.values(await scene.apply()))];
  const applied = scene.now();
  await scene.undo();
  return { verdicts, applied: Object.keys(applied), isUndone: JSON.stringify(scene.now()) === before };
}

async function lock(): Promise<unknown> {
  const held = path.join(root, 'lock');
  const once = { waitMs: 0, what: 'the lock' };
  return withLock(held, once, async () => {
    const second = await withLock(held, once, async () => 'taken twice').catch(() => 'refused');
    return { second, owner: processState(processIdentity()) };
  });
}

const results = {
  platform: process.platform,
  hasProc: existsSync('/proc/self'),
  generations: await generations(),
  applyAndUndo: await applyAndUndo(),
  lock: await lock(),
  git: runGitSync(['init', '--quiet', path.join(root, 'repository')]).length,
};
await removeTree(path.join(root, 'base'));
writeFileSync(resultFile, JSON.stringify({ ...results, isRemoved: !existsSync(path.join(root, 'base')) }));
