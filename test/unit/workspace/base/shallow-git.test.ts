import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Plan } from '../../../../src/core/types/plan.ts';
import type { WorkspaceOptions } from '../../../../src/workspace/layer/layer.ts';
import { pathsInHistory } from '../../../../src/workspace/scan/git/git-history.ts';
import { startBase } from '../../../../src/workspace/view/start-base.ts';

let dir: string;
let project: string;
let told: string[];

const git = (where: string, ...words: string[]): string =>
  execFileSync('git', ['-c', 'safe.directory=*', ...words], { cwd: where, encoding: 'utf8' });
const put = (name: string, text: string): void => {
  mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
  writeFileSync(path.join(project, name), text);
};

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-shallow-'));
  project = path.join(dir, 'project');
  told = [];
  put('src/a.txt', 'a\n');
  put('vendor/lib.txt', 'vendored\n');
  put('secret.env', 'key\n');
  git(dir, 'init', '-q', '-b', 'main', 'project');
  git(project, 'config', 'user.name', 'Person');
  git(project, 'config', 'user.email', 'person@example.org');
  git(project, 'add', '-A');
  git(project, 'commit', '-q', '-m', 'first');
  git(project, 'tag', 'old');
  // One process instead of sixty.
  const blob = (n: number): string => `blob\nmark :${n}\ndata 3\n${String(n).padStart(3)}\n`;
  const commit = (n: number): string =>
    `commit refs/heads/main\nmark :${100 + n}\ncommitter P <p@example.org> ${1_700_000_000 + n} +0000\ndata 2\nc\n` +
    `${n === 1 ? 'from refs/heads/main^0\n' : ''}M 100644 :${n} src/n.txt\n`;
  const stream = Array.from({ length: 60 }, (_, at) => `${blob(at + 1)}${commit(at + 1)}\n`).join('');
  execFileSync('git', ['fast-import', '--quiet'], { cwd: project, input: stream });
  git(project, 'reset', '-q', '--hard');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const start = async (id: string, policy: object, gitCommonDir = path.join(project, '.git')): Promise<string> => {
  const plan = {
    sessionId: id,
    sessionDir: path.join(dir, 'state', id),
    baseDir: path.join(dir, 'base'),
    user: '1000:1000',
    strategy: 'copy',
    project: { root: project, gitCommonDir },
    policy: { exclude: [], include: [], mask: [], verify: false, shallow: true, ...policy },
  } as unknown as Plan;
  mkdirSync(plan.sessionDir, { recursive: true });
  const tell: WorkspaceOptions['tell'] = (event) => void (event.kind === 'message' && told.push(event.text));
  const base = await startBase({ plan, tell } as WorkspaceOptions);
  return path.join(base.dir, 'tree');
};

it('git works on the shortened history, and omitted paths are listed and can be included', async () => {
  put('staged.txt', 'staged\n');
  git(project, 'add', 'staged.txt');
  put('src/a.txt', 'edited\n');
  const tree = await start('one', {});
  expect(git(tree, 'log', '--oneline').trim().split('\n')).toHaveLength(50);
  expect(git(tree, 'status', '--porcelain')).toBe(' M src/a.txt\nA  staged.txt\n');
  expect(git(tree, 'diff', '--cached', 'HEAD~49')).toContain('+staged');
  git(tree, 'fsck', '--connectivity-only');
  expect(git(tree, 'tag')).toBe('');
  expect(git(tree, 'branch', '--show-current')).toBe('main\n');
  expect(existsSync(path.join(tree, 'vendor'))).toBe(false);
  expect(told.join('\n')).toMatch(/the last 50 commits/);
  expect(told.join('\n')).toContain('Excluded or masked: vendor');
  git(project, 'commit', '-q', '-am', 'more');
  const again = await start('two', { include: ['vendor/'] });
  expect(readFileSync(path.join(again, 'vendor/lib.txt'), 'utf8')).toBe('vendored\n');
  expect(git(again, 'log', '-1', '--format=%s')).toBe('more\n');
  expect(git(again, 'status', '--porcelain')).toBe('');
  expect(git(tree, 'status', '--porcelain')).toBe(' M src/a.txt\nA  staged.txt\n');
});

it('names only the masked paths that the history still contains', async () => {
  git(project, 'rm', '-q', '--cached', 'secret.env');
  git(project, 'commit', '-q', '-m', 'no secret');
  const gitDir = path.join(project, '.git');
  expect(await pathsInHistory(gitDir, project, ['secret.env', 'never.env', 'src'])).toEqual({
    found: ['secret.env', 'src'],
    unsure: false,
  });
  expect(await pathsInHistory(gitDir, project, ['never.env'])).toEqual({ found: [], unsure: false });
  expect((await pathsInHistory(path.join(dir, 'none'), project, ['a'])).unsure).toBe(true);
});

it('git works on the shortened history of a linked work tree of a bare repository, with its own sparse checkout', async () => {
  const bare = path.join(dir, 'bare');
  git(dir, 'clone', '-q', '--bare', 'project', 'bare');
  project = path.join(dir, 'tree');
  git(bare, 'worktree', 'add', '-q', project);
  expect(git(await start('zero', {}, bare), 'status', '--porcelain')).toBe('');
  git(project, 'sparse-checkout', 'set', 'src');
  const tree = await start('one', {}, bare);
  expect(git(tree, 'rev-parse', '--show-toplevel').trim()).toBe(tree);
  expect(git(tree, 'status', '--porcelain')).toBe('');
  expect(git(tree, 'sparse-checkout', 'list')).toBe('src\n');
  // Without another commit, or a change of the index.
  git(project, 'config', 'color.ui', 'never');
  expect(git(await start('two', {}, bare), 'config', 'color.ui')).toBe('never\n');
});

it('has the settings of now, without packing the objects again', async () => {
  await start('one', {});
  const packs = (tree: string): string[] => readdirSync(path.join(tree, '.git/objects/pack')).sort();
  const made = packs(await start('two', {}));
  git(project, 'config', 'user.name', 'New');
  put('.git/info/exclude', 'hidden\n');
  git(project, 'branch', 'same');
  git(project, 'symbolic-ref', 'HEAD', 'refs/heads/same');
  const tree = await start('three', {});
  expect(git(tree, 'config', 'user.name')).toBe('New\n');
  expect(readFileSync(path.join(tree, '.git/info/exclude'), 'utf8')).toBe('hidden\n');
  expect(git(tree, 'branch', '--show-current')).toBe('same\n');
  // No ref or index changes here: only the settings.
  git(project, 'symbolic-ref', 'HEAD', 'refs/heads/main');
  git(project, 'config', 'user.name', 'Newer');
  rmSync(path.join(project, '.git/info/exclude'));
  const packed = path.join(dir, 'base', 'git', 'objects', 'pack');
  const stamp = statSync(packed).mtimeMs;
  const last = await start('four', {});
  expect(git(last, 'config', 'user.name')).toBe('Newer\n');
  expect(git(last, 'branch', '--show-current')).toBe('main\n');
  expect(existsSync(path.join(last, '.git/info/exclude'))).toBe(false);
  expect(packs(last)).toEqual(made);
  expect(statSync(packed).mtimeMs).toBe(stamp);
});

it('git works on the shortened history of a repository whose work tree is a folder of the project', async () => {
  execFileSync('sh', ['-c', 'mkdir top; mv src vendor secret.env top'], { cwd: project });
  git(project, 'config', 'core.worktree', '../top');
  const tree = await start('one', {});
  expect(git(tree, 'rev-parse', '--show-toplevel').trim()).toBe(path.join(tree, 'top'));
  expect(git(tree, 'log', '--oneline').trim().split('\n')).toHaveLength(50);
  expect(git(tree, 'diff', '--name-only', 'HEAD', '--', 'src')).toBe('');
});

it('git works where the repository of a submodule is left out, and takes the submodule for one that was not fetched', async () => {
  const lib = path.join(dir, 'lib');
  mkdirSync(lib);
  git(lib, 'init', '-q');
  writeFileSync(path.join(lib, 'code.c'), 'code\n');
  git(lib, 'add', '-A');
  git(lib, '-c', 'user.name=P', '-c', 'user.email=p@example.org', 'commit', '-qm', 'lib');
  git(project, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', lib, 'lib');
  git(project, 'commit', '-qm', 'a submodule');
  const tree = await start('one', {});
  expect(readFileSync(path.join(tree, 'lib/code.c'), 'utf8')).toBe('code\n');
  expect(existsSync(path.join(tree, 'lib/.git'))).toBe(false);
  expect(git(tree, 'status', '--porcelain')).toBe('');
  writeFileSync(path.join(tree, 'src/a.txt'), 'edited\n');
  git(tree, 'add', '-A');
  expect(git(tree, 'diff', '--cached', '--name-status')).toBe('M\tsrc/a.txt\n');
  // A whole copy has both.
  expect(existsSync(path.join(await start('two', { shallow: false }), 'lib/.git'))).toBe(true);
});
