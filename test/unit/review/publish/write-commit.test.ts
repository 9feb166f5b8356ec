import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readHead, type ScratchFile } from '../../../../src/review/publish/scratch-tree.ts';
import { writeCommit } from '../../../../src/review/publish/write-commit.ts';

/** A repository with one commit of these files; the project is the folder `part` of it, or its top. */
function repositoryOf(files: Readonly<Record<string, string>>, part = '') {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-write-commit-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [top, home, scratch] = ['repository', 'home', 'scratch/tree'].map((name) => path.join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const dir of [top, home, scratch, path.join(top, part)]) mkdirSync(dir, { recursive: true });
  const env = { PATH: process.env['PATH'], HOME: home, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...words: string[]): string => execFileSync('git', words, { cwd: top, env, encoding: 'utf8' });
  git('init', '-q', '-b', 'main');
  git('config', '--global', 'user.name', 'You');
  git('config', '--global', 'user.email', 'you@example.org');
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(top, name)), { recursive: true });
    writeFileSync(path.join(top, name), content);
  }
  git('add', '-A');
  git('commit', '-q', '-m', 'first');
  const project = path.join(top, part);

  /** The commit with `changed` in place of `laid`, paths of the project. */
  async function commit(laid: readonly string[], changed: Readonly<Record<string, Partial<ScratchFile>>>) {
    const head = await readHead(project, env);
    const entries = laid.map((own) => [own, head.entries.get(head.prefix + own)] as const);
    const tree = { root: scratch, laid: new Map(entries.flatMap(([own, entry]) => (entry ? [[own, entry]] : []))) };
    const after = Object.entries(changed).map(
      ([own, file]) => [own, { mode: '100644', content: Buffer.from(''), ...file } as ScratchFile] as const,
    );
    return writeCommit({ project, env, head, scratch: tree, files: new Map(after), message: 'second\n' });
  }
  return { top, project, env, git, commit };
}

const text = (content: string): Partial<ScratchFile> => ({ content: Buffer.from(content) });

describe('a commit on top of HEAD', () => {
  it('has the changed files, and leaves index, work tree and refs as they are', async () => {
    const { git, commit } = repositoryOf({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'd/e/c.txt': 'c\n' });
    const before = [git('rev-parse', 'main'), git('status', '--porcelain')];
    const id = await commit(['a.txt', 'b.txt'], {
      'a.txt': text('A\n'),
      'd/new.sh': { ...text('#!'), mode: '100755' },
    });
    expect(git('diff-tree', '-r', '--name-status', 'main', id ?? '')).toBe('M\ta.txt\nD\tb.txt\nA\td/new.sh\n');
    expect(git('ls-tree', id ?? '', 'd/new.sh')).toMatch(/^100755 /);
    expect(git('log', '-1', '--format=%P %s', id ?? '')).toBe(`${before[0]?.trim()} second\n`);
    expect([git('rev-parse', 'main'), git('status', '--porcelain')]).toEqual(before);
    expect(git('fsck', '--strict', '--no-dangling')).toBe('');
  });

  it('is not made where nothing differs', async () => {
    const { commit } = repositoryOf({ 'a.txt': 'a\n' });
    expect(await commit(['a.txt'], { 'a.txt': text('a\n') })).toBeUndefined();
  });

  it('of a project in a folder of its repository changes this folder only', async () => {
    const { git, commit } = repositoryOf({ 'a.txt': 'a\n', 'part/a.txt': 'a\n' }, 'part');
    const id = await commit(['a.txt'], { 'a.txt': text('A\n') });
    expect(git('diff-tree', '-r', '--name-only', 'main', id ?? '')).toBe('part/a.txt\n');
  });

  it('has a pointer where the attributes give a file to Git LFS, and its content is in the store', async () => {
    const { top, git, commit } = repositoryOf({ '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n' });
    const content = Buffer.from('large');
    const id = await commit([], { 'x.bin': { content }, 'y.txt': { content } });
    const oid = createHash('sha256').update(content).digest('hex');
    expect(git('show', `${id}:x.bin`)).toContain(`oid sha256:${oid}\nsize 5\n`);
    expect(git('show', `${id}:y.txt`)).toBe('large');
    const stored = path.join(top, '.git/lfs/objects', oid.slice(0, 2), oid.slice(2, 4), oid);
    expect(readFileSync(stored)).toEqual(content);
  });
});

it('a project outside of a repository is refused, with the way that works', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-no-repository-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  await expect(readHead(dir, { PATH: process.env['PATH'] })).rejects.toMatchObject({
    message: '--branch needs a git repository',
    hint: expect.stringContaining('run-claude apply'),
  });
});
