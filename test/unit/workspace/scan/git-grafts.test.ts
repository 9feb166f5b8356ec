import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EVERYTHING } from '../../../../src/core/text/selection.ts';
import { prepareBase } from '../../../../src/workspace/base/prepare-base.ts';
import { gitGrafts } from '../../../../src/workspace/scan/git/git-grafts.ts';

let dir: string;

/** As on a machine without any git configuration. */
const git = (where: string, ...words: string[]): string =>
  execFileSync('git', ['-c', 'protocol.file.allow=always', ...words], {
    cwd: path.join(dir, where),
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: dir, GIT_CONFIG_NOSYSTEM: '1', GIT_ALLOW_PROTOCOL: 'file' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
const commit = (where: string, message: string): void => {
  writeFileSync(path.join(dir, where, `${message}.txt`), `${message}\n`);
  git(where, 'add', '-A');
  git(where, '-c', 'user.name=Person', '-c', 'user.email=person@example.org', 'commit', '-q', '-m', message);
};

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-grafts-'));
  mkdirSync(path.join(dir, 'main'));
  git('main', 'init', '-q', '-b', 'main');
  commit('main', 'first');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** The tree of a base of the project, which then has nothing but itself; `lenders` is given what it borrowed from. */
async function alone(name: string, lenders: string[] = []): Promise<string> {
  const project = path.join(dir, name);
  const sessionDir = path.join(dir, 'session');
  mkdirSync(sessionDir, { recursive: true });
  const base = await prepareBase({
    dir: path.join(dir, 'base'),
    project,
    grafts: gitGrafts(project),
    selection: EVERYTHING,
    owner: undefined,
    sessionId: 'one',
    sessionDir,
    verify: false,
    stack: false,
    tell: () => undefined,
  });
  lenders.push(...base.lenders.map((lender) => path.relative(dir, lender)).sort());
  const tree = path.join(dir, 'alone', 'tree');
  mkdirSync(path.dirname(tree));
  renameSync(path.join(base.dir, 'tree'), tree);
  for (const one of ['main', 'lender', 'project']) rmSync(path.join(dir, one), { recursive: true, force: true });
  return 'alone/tree';
}

/** What a session does first, all of it with git's own objects only. */
function expectWhole(tree: string, log: readonly string[]): void {
  expect(git(tree, 'log', '--format=%s').trim().split('\n')).toEqual(log);
  expect(git(tree, 'status', '--porcelain')).toBe('?? edited.txt\n');
  git(tree, 'fsck', '--full', '--strict');
  commit(tree, 'inside');
  expect(git(tree, 'log', '-1', '--format=%s')).toBe('inside\n');
  expect(lstatSync(path.join(dir, tree, '.git')).isDirectory()).toBe(true);
  expect(git(tree, 'rev-parse', '--path-format=absolute', '--git-common-dir').trim()).toBe(
    path.join(dir, tree, '.git'),
  );
}

describe('git in the copy of', () => {
  it('a linked worktree has its own HEAD and index, and the history of all', async () => {
    git('main', 'worktree', 'add', '-q', '-b', 'side', '../project');
    commit('project', 'second');
    commit('main', 'elsewhere');
    writeFileSync(path.join(dir, 'project/edited.txt'), 'edited\n');
    const tree = await alone('project');
    expect(git(tree, 'branch', '--show-current')).toBe('side\n');
    expect(git(tree, 'log', '-1', '--format=%s', 'main')).toBe('elsewhere\n');
    expectWhole(tree, ['second', 'first']);
    expect(existsSync(path.join(dir, tree, '.git/worktrees'))).toBe(false);
  });

  it('a submodule has the history of the submodule', async () => {
    mkdirSync(path.join(dir, 'lender'));
    git('lender', 'init', '-q', '-b', 'main');
    commit('lender', 'of the library');
    git('main', 'submodule', 'add', '-q', '../lender', 'lib');
    writeFileSync(path.join(dir, 'main/lib/edited.txt'), 'edited\n');
    const tree = await alone('main/lib');
    expectWhole(tree, ['of the library']);
  });

  it('a linked worktree with a submodule of its own has both, and nothing of the main worktree’s submodule', async () => {
    mkdirSync(path.join(dir, 'lender'));
    git('lender', 'init', '-q', '-b', 'main');
    commit('lender', 'of the library');
    git('main', 'submodule', 'add', '-q', '../lender', 'lib');
    commit('main', 'second');
    git('main', 'worktree', 'add', '-q', '-b', 'side', '../project');
    git('project', 'submodule', 'update', '-q', '--init');
    git('main/lib', 'branch', 'of-main');
    writeFileSync(path.join(dir, 'project/edited.txt'), 'edited\n');
    const tree = await alone('project');
    expect(git(`${tree}/lib`, 'branch', '-a', '--list', '*main*')).not.toContain('of-main');
    expect(git(`${tree}/lib`, 'log', '--format=%s')).toBe('of the library\n');
    expect(git(`${tree}/lib`, 'status', '--porcelain')).toBe('');
    expectWhole(tree, ['second', 'first']);
  });

  it('a project that contains worktrees and a submodule has them all, with absolute and relative pointers', async () => {
    mkdirSync(path.join(dir, 'lender'));
    git('lender', 'init', '-q', '-b', 'main');
    commit('lender', 'of the library');
    git('main', 'submodule', 'add', '-q', '../lender', 'lib');
    commit('main', 'second');
    renameSync(path.join(dir, 'main'), path.join(dir, 'project'));
    const project = path.join(dir, 'project');
    writeFileSync(path.join(project, 'lib/.git'), `gitdir: ${project}/.git/modules/lib\n`);
    git('project', 'config', 'extensions.worktreeConfig', 'true');
    for (const name of ['one', 'two']) git('project', 'worktree', 'add', '-q', '-b', name, `.claude/worktrees/${name}`);
    git('project/.claude/worktrees/one', 'config', '--worktree', 'http.extraHeader', 'Authorization: TOKEN');
    // As git 2.48 writes them when configured so; the git that reads the copy may be older.
    git('project', 'config', 'extensions.relativeWorktrees', 'true');
    git('project', 'config', 'core.repositoryFormatVersion', '1');
    writeFileSync(path.join(project, '.claude/worktrees/two/.git'), 'gitdir: ../../../.git/worktrees/two\n');
    writeFileSync(path.join(project, '.git/worktrees/two/gitdir'), '../../../.claude/worktrees/two/.git\n');
    const tree = await alone('project');
    for (const [where, log] of [
      ['lib', 'of the library\n'],
      ['.claude/worktrees/one', 'second\nfirst\n'],
      ['.claude/worktrees/two', 'second\nfirst\n'],
    ] as const) {
      writeFileSync(path.join(dir, tree, where, 'edited.txt'), 'edited\n');
      expect(git(`${tree}/${where}`, 'status', '--porcelain'), where).toBe('?? edited.txt\n');
      expect(git(`${tree}/${where}`, 'log', '--format=%s'), where).toBe(log);
    }
    const text = (name: string): string => readFileSync(path.join(dir, tree, name), 'utf8');
    for (const name of ['one', 'two'])
      expect(text(`.git/worktrees/${name}/gitdir`)).toBe(`/workspace/.claude/worktrees/${name}/.git\n`);
    expect(text('.git/worktrees/one/config.worktree')).not.toContain('TOKEN');
    expect(text('.claude/worktrees/one/.git')).toBe('gitdir: ../../../.git/worktrees/one\n');
  });

  it('worktrees next to the bare repository that the project names as its own have it', async () => {
    mkdirSync(path.join(dir, 'project'));
    git('.', 'clone', '-q', '--bare', 'main', 'project/.bare');
    writeFileSync(path.join(dir, 'project/.git'), 'gitdir: ./.bare\n');
    git('project', 'worktree', 'add', '-q', 'main');
    const tree = await alone('project');
    expect(git(`${tree}/main`, 'status', '--porcelain')).toBe('');
    expect(git(`${tree}/main`, 'rev-parse', '--path-format=absolute', '--git-common-dir').trim()).toBe(
      path.join(dir, tree, '.git'),
    );
  });

  it.each([
    ['in the shared configuration', () => undefined],
    [
      'in that of the main worktree',
      () => {
        // As git worktree and git sparse-checkout do it.
        git('lender', 'config', 'extensions.worktreeConfig', 'true');
        git('lender', 'config', '--unset', 'core.bare');
        git('lender', 'config', '-f', 'config.worktree', 'core.bare', 'true');
      },
    ],
  ])('a linked worktree of a bare repository, which says so %s, has a work tree', async (_, prepare) => {
    git('.', 'clone', '-q', '--bare', 'main', 'lender');
    prepare();
    git('lender', 'worktree', 'add', '-q', '-b', 'side', '../project');
    writeFileSync(path.join(dir, 'project/edited.txt'), 'edited\n');
    const tree = await alone('project');
    expect(git(tree, 'rev-parse', '--is-bare-repository', '--is-inside-work-tree')).toBe('false\ntrue\n');
    expect(git(tree, 'rev-parse', '--show-toplevel').trim()).toBe(path.join(dir, tree));
    expectWhole(tree, ['first']);
    git(tree, 'stash', '-q', '--include-untracked');
    git(tree, 'checkout', '-q', '-b', 'another');
  });

  it.each([
    ['as git makes it', () => undefined],
    [
      'with core.worktree',
      (own: string) => git('project', 'config', '-f', `${own}/config`, 'core.worktree', `${dir}/project`),
    ],
  ])('a repository in a separate directory is whole, %s', async (_, prepare) => {
    mkdirSync(path.join(dir, 'project'));
    git('project', 'init', '-q', '-b', 'main', '--separate-git-dir', '../lender');
    prepare(path.join(dir, 'lender'));
    commit('project', 'first');
    writeFileSync(path.join(dir, 'project/edited.txt'), 'edited\n');
    const tree = await alone('project');
    // In a container, the copy is where the project is.
    expect(git(tree, 'config', '--default', '..', 'core.worktree')).toBe('..\n');
    expectWhole(tree, ['first']);
  });

  it('a repository that the project links to is whole', async () => {
    mkdirSync(path.join(dir, 'project'));
    git('project', 'init', '-q', '-b', 'main');
    renameSync(path.join(dir, 'project/.git'), path.join(dir, 'lender'));
    symlinkSync('../lender', path.join(dir, 'project/.git'));
    commit('project', 'first');
    writeFileSync(path.join(dir, 'project/edited.txt'), 'edited\n');
    expectWhole(await alone('project'), ['first']);
  });

  it('a repository whose work tree is a folder of the project, or outside of it', async () => {
    renameSync(path.join(dir, 'main'), path.join(dir, 'project'));
    mkdirSync(path.join(dir, 'project/src'));
    renameSync(path.join(dir, 'project/first.txt'), path.join(dir, 'project/src/first.txt'));
    git('project', 'config', 'core.worktree', '../src');
    mkdirSync(path.join(dir, 'project/inner'));
    git('project/inner', 'init', '-q', '-b', 'main');
    git('project/inner', 'config', 'core.worktree', `${dir}/lender`);
    writeFileSync(path.join(dir, 'project/src/edited.txt'), 'edited\n');
    expect(git('project', 'status', '--porcelain')).toBe('?? edited.txt\n');
    const tree = await alone('project');
    expect(git(tree, 'status', '--porcelain')).toBe('?? edited.txt\n');
    expect(git(tree, 'rev-parse', '--show-toplevel').trim()).toBe(path.join(dir, tree, 'src'));
    git(`${tree}/src`, 'add', '-A');
    expect(git(tree, 'status', '--porcelain')).toBe('A  edited.txt\n');
    // Nothing outside of the copy is named.
    expect(git(`${tree}/inner`, 'config', '--default', 'none', 'core.worktree')).toBe('none\n');
    expect(git(`${tree}/inner`, 'status', '--porcelain')).toBe('');
  });

  it('a linked worktree has its own sparse checkout, and none of what the main one is in the middle of', async () => {
    for (const name of ['a', 'b', 'c']) {
      mkdirSync(path.join(dir, 'main', name));
      writeFileSync(path.join(dir, 'main', name, 'file'), name);
    }
    commit('main', 'second');
    git('main', 'branch', 'conflicting');
    git('main', 'worktree', 'add', '-q', '-b', 'side', '../project');
    git('project', 'sparse-checkout', 'set', 'a');
    git('main', 'sparse-checkout', 'set', 'b');
    git('main', 'bisect', 'start', 'HEAD', 'HEAD~1');
    for (const name of ['MERGE_RR', 'SQUASH_MSG', 'NOTES_MERGE_REF', 'AUTO_MERGE', 'index.stash.77'])
      writeFileSync(path.join(dir, 'main/.git', name), '');
    git('main', 'update-ref', 'refs/worktree/mine', 'HEAD');
    const settled = git('project', 'status');
    const reflog = git('project', 'reflog', '--format=%gs');
    const tree = await alone('project');
    expect(git(tree, 'status')).toBe(settled);
    expect(git(tree, 'reflog', '--format=%gs')).toBe(reflog);
    expect(git(tree, 'sparse-checkout', 'list')).toBe('a\n');
    expect(git(tree, 'for-each-ref', '--format=%(refname)')).toBe(
      'refs/heads/conflicting\nrefs/heads/main\nrefs/heads/side\n',
    );
    git(tree, 'sparse-checkout', 'add', 'c');
    expect(readdirSync(path.join(dir, tree)).sort()).toEqual(['.git', 'a', 'c', 'first.txt', 'second.txt']);
    const names = readdirSync(path.join(dir, tree, '.git'));
    expect(names.filter((name) => /BISECT|MERGE_RR|SQUASH|NOTES_MERGE|AUTO_MERGE|stash/.test(name))).toEqual([]);
  });

  it('repositories in which a git runs, or was killed: every command works', async () => {
    mkdirSync(path.join(dir, 'lender'));
    git('lender', 'init', '-q', '-b', 'main');
    commit('lender', 'of the library');
    git('main', 'submodule', 'add', '-q', '../lender', 'lib.lock');
    commit('main', 'second');
    git('main', 'branch', 'objects/tmp_work');
    git('main', 'clone', '-q', '../lender', 'inner');
    renameSync(path.join(dir, 'main'), path.join(dir, 'project'));
    for (const repository of ['.git', '.git/modules/lib.lock', 'inner/.git']) {
      const at = path.join(dir, 'project', repository);
      for (const dirs of ['objects/ab', 'objects/tmp_objdir-incoming-Ab3xYz/pack', 'logs/refs/heads'])
        mkdirSync(path.join(at, dirs), { recursive: true });
      for (const name of [
        ...['index.lock', 'HEAD.lock', 'config.lock', 'config.worktree.lock', 'packed-refs.lock', 'packed-refs.new'],
        ...['shallow.lock', 'ORIG_HEAD.lock', 'MERGE_RR.lock', 'refs/heads/main.lock', 'refs/heads/new.lock'],
        ...['refs/stash.lock', 'gc.pid', 'gc.pid.lock', 'objects/maintenance.lock', 'objects/info/commit-graph.lock'],
        ...['objects/pack/multi-pack-index.lock', 'objects/pack/tmp_pack_Ab3xYz', 'objects/ab/tmp_obj_Ab3xYz'],
        ...['objects/pack/.tmp-4711-pack-77', 'next-index-4711.lock', 'objects/tmp_objdir-incoming-Ab3xYz/pack/x'],
      ])
        writeFileSync(path.join(at, name), '4711 host');
    }
    expect(() => git('project', 'add', '-A')).toThrow('index.lock');
    const tree = await alone('project');
    for (const [where, log] of [
      ['.', 'inside\nsecond\nfirst\n'],
      ['lib.lock', 'inside\nof the library\n'],
      ['inner', 'inside\nof the library\n'],
    ] as const) {
      const here = path.join(tree, where);
      commit(here, 'inside');
      git(here, 'config', 'color.ui', 'never');
      git(here, 'stash', 'list');
      git(here, 'branch', 'new');
      writeFileSync(path.join(dir, here, 'inside.txt'), 'edited\n');
      git(here, '-c', 'user.name=P', '-c', 'user.email=p@example.org', 'stash', '-q');
      git(here, 'pack-refs', '--all');
      git(here, 'gc', '-q');
      git(here, 'multi-pack-index', 'write');
      git(here, 'commit-graph', 'write', '--reachable');
      git(here, 'reset', '-q', '--hard');
      expect(git(here, 'log', '--format=%s'), where).toBe(log);
      git(here, 'fsck', '--full');
    }
    expect(git(tree, 'branch', '--list', 'objects/*')).toBe('  objects/tmp_work\n');
    expect(execFileSync('find', [path.join(dir, tree), '-name', '*tmp_obj*'], { encoding: 'utf8' })).toBe('');
  });

  it.each(['--shared', '--reference'])('a clone that borrows objects (%s) has them', async (how) => {
    // Packed and loose, and from one that borrows itself.
    git('main', 'gc', '-q');
    git('.', 'clone', '-q', '--shared', 'main', 'lender');
    commit('lender', 'lent');
    git('.', 'clone', '-q', ...(how === '--shared' ? [how] : [how, 'main']), 'lender', 'project');
    commit('project', 'own');
    writeFileSync(path.join(dir, 'project/edited.txt'), 'edited\n');
    const lenders: string[] = [];
    const tree = await alone('project', lenders);
    expect(lenders).toEqual([...(how === '--shared' ? ['lender/.git/objects'] : []), 'main/.git/objects']);
    expect(existsSync(path.join(dir, tree, '.git/objects/info/alternates'))).toBe(false);
    expectWhole(tree, ['own', 'lent', 'first']);
  });

  it('a linked worktree of a clone that borrows objects has them', async () => {
    git('.', 'clone', '-q', '--shared', 'main', 'lender');
    commit('lender', 'lent');
    git('lender', 'worktree', 'add', '-q', '-b', 'side', '../project');
    writeFileSync(path.join(dir, 'project/edited.txt'), 'edited\n');
    expectWhole(await alone('project'), ['lent', 'first']);
  });

  it('a submodule, a repository in the project and a submodule of that, which borrow, have all objects', async () => {
    git('main', 'gc', '-q');
    git('.', 'clone', '-q', '--shared', 'main', 'lender');
    commit('lender', 'lent');
    git('lender', 'commit-graph', 'write', '--reachable');
    mkdirSync(path.join(dir, 'project'));
    for (const where of ['project', 'project/inner']) {
      if (where === 'project') git(where, 'init', '-q', '-b', 'main');
      else git('project', 'clone', '-q', '--shared', '../lender', 'inner');
      git(where, 'submodule', 'add', '-q', '--reference', path.join(dir, 'lender'), `file://${dir}/lender`, 'lib');
      commit(where, 'own');
    }
    git('project/inner', 'commit-graph', 'write', '--reachable', '--split');
    const tree = await alone('project');
    for (const inside of ['lib', 'inner', 'inner/lib']) {
      writeFileSync(path.join(dir, tree, inside, 'edited.txt'), 'edited\n');
      expect(git(`${tree}/${inside}`, 'status', '--porcelain'), inside).toBe('?? edited.txt\n');
      git(`${tree}/${inside}`, 'fsck', '--full', '--strict');
      expect(git(`${tree}/${inside}`, 'log', '--format=%s', 'main'), inside).toMatch(/lent\nfirst\n$/);
    }
  });

  it('a bare repository that was checked out with the project has what the project has', async () => {
    mkdirSync(path.join(dir, 'project'));
    git('project', 'clone', '-q', '--bare', '--shared', '../main', 'bare');
    const tree = await alone('project');
    expect(readdirSync(path.join(dir, tree, 'bare/objects')).sort()).toEqual(['info', 'pack']);
  });

  it('a repository that names another directory of the user gets only objects from it', async () => {
    mkdirSync(path.join(dir, 'private/.keys'), { recursive: true });
    writeFileSync(path.join(dir, 'private/id'), 'PRIVATE');
    writeFileSync(path.join(dir, 'private/.keys/id'), 'PRIVATE');
    writeFileSync(
      path.join(dir, 'main/.git/objects/info/alternates'),
      `${dir}/private\n../../../private/.keys\n/nowhere\n`,
    );
    writeFileSync(path.join(dir, 'main/edited.txt'), 'edited\n');
    renameSync(path.join(dir, 'main'), path.join(dir, 'project'));
    const tree = await alone('project');
    expectWhole(tree, ['first']);
    const names = readdirSync(path.join(dir, tree, '.git/objects'));
    expect(names.filter((name) => !/^([0-9a-f]{2}|info|pack)$/.test(name))).toEqual([]);
  });

  it.each(['the directory itself', 'what it shares'])(
    'a project that names no repository (%s) has nothing of it',
    (how) => {
      mkdirSync(path.join(dir, 'private'));
      writeFileSync(path.join(dir, 'private/id'), 'PRIVATE');
      mkdirSync(path.join(dir, 'project/own'), { recursive: true });
      writeFileSync(path.join(dir, 'project/own/commondir'), `${dir}/private\n`);
      const named = how === 'what it shares' ? 'own' : '../private';
      writeFileSync(path.join(dir, 'project/.git'), `gitdir: ${named}\n`);
      expect(gitGrafts(path.join(dir, 'project'))).toEqual(new Map());
      rmSync(path.join(dir, 'project/.git'));
      symlinkSync(named, path.join(dir, 'project/.git'));
      expect(gitGrafts(path.join(dir, 'project'))).toEqual(new Map());
    },
  );
});
