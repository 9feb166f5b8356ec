import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { planBranches, takeCommits } from '../../../../../src/cli/commands/review/take-commits.ts';
import type { SessionRecord } from '../../../../../src/core/types/session.ts';
import type { RepositoryCommits } from '../../../../../src/review/commits/audit/audit-commits.ts';
import { receiveCommits } from '../../../../../src/review/commits/import-commits.ts';
import { NO_LFS } from '../../../../../src/review/commits/lfs/objects.ts';
import { findRepositories } from '../../../../../src/review/commits/repositories.ts';
import { gitWords } from '../../../../../src/review/commits/taken-twice.ts';
import type { UserDeps } from '../../../../../src/session/stage/deps.ts';
import type { Screen } from '../../../../../src/terminal/screen.ts';

let root: string;
let project: string;
let inside: string;
let told: string[];

const env = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: root,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_COUNT: '3',
  ...{ GIT_CONFIG_KEY_0: 'user.name', GIT_CONFIG_VALUE_0: 'A' },
  ...{ GIT_CONFIG_KEY_1: 'user.email', GIT_CONFIG_VALUE_1: 'a@example.org' },
  ...{ GIT_CONFIG_KEY_2: 'protocol.file.allow', GIT_CONFIG_VALUE_2: 'always' },
});
const git = (cwd: string, ...words: string[]): string =>
  execFileSync('git', words, { cwd, env: env(), encoding: 'utf8', stdio: 'pipe' }).trim();
const put = (file: string, text: string): void => {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
};
const commit = (cwd: string, title: string): void => {
  put(path.join(cwd, `${title}.txt`), `${title}\n`);
  git(cwd, 'add', '-A');
  git(cwd, 'commit', '-q', '-m', title);
};

/** A project with a submodule `lib`, and a session's copy of it with a commit in both. */
beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-take-')));
  told = [];
  [project, inside] = [path.join(root, 'project'), path.join(root, 'inside')];
  git(root, 'init', '-q', '-b', 'main', 'origin');
  commit(path.join(root, 'origin'), 'lib one');
  git(root, 'init', '-q', '-b', 'main', 'project');
  git(project, 'submodule', '--quiet', 'add', path.join(root, 'origin'), 'lib');
  git(path.join(project, 'lib'), 'checkout', '-q', '--detach');
  commit(project, 'one');
  execFileSync('cp', ['-a', project, inside]);
  commit(path.join(inside, 'lib'), 'lib two');
  commit(inside, 'two');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** The session's commits, as received. */
function receive(): RepositoryCommits[] {
  return findRepositories({ root: project, git: 'directory' }, 'copy', []).flatMap((repository) => {
    const clone = path.join(inside, repository.path);
    const file = path.join(root, 'b.bundle');
    const known = git(path.join(project, repository.path), 'rev-parse', 'HEAD');
    git(clone, 'bundle', 'create', '-q', file, '--branches', 'HEAD', `^${known}`);
    const sessionDir = path.join(root, 'session');
    mkdirSync(sessionDir, { recursive: true });
    const request = { project: repository.place, sessionId: 'id', sessionDir, maxBytes: 1 << 20 };
    return [{ repository, received: receiveCommits({ ...request, bundle: readFileSync(file) }), lfs: NO_LFS }];
  });
}

async function take(applied: boolean, branch?: string, typed?: string): Promise<void> {
  const made = receive();
  const outcome = { at: '', changes: applied ? [{ path: 'x', verdict: 'applied' }] : [] };
  const record = { id: 'id', plan: { mode: 'copy' }, outcome } as unknown as SessionRecord;
  const tell: UserDeps['tell'] = (event) => void (event.kind === 'message' && told.push(event.text));
  const deps = { tell, screen: typed === undefined ? undefined : screenOf(typed) } as unknown as UserDeps;
  await takeCommits({ record, made, branches: planBranches(made, branch), git: gitWords(project, project) }, deps);
  for (const { received } of made) received[Symbol.dispose]();
}

/** A terminal on which this is typed when a question is asked. */
function screenOf(typed: string): Screen {
  const [stdin, stderr] = [new PassThrough(), new PassThrough()];
  stderr.on('data', (chunk: Buffer) => void (chunk.includes('[y/N/?]:') && stdin.end(typed)));
  return { stdin, stderr, env: {}, colour: false, dumb: true } as unknown as Screen;
}

/** Runs the command that a line ends with, as pasted into a shell in the project. */
const paste = (lines: readonly string[], at: RegExp): void => {
  for (const line of lines.filter((one) => at.test(one))) {
    const [, command = 'false'] = /: ((?:git|true) .*)$/.exec(line) ?? [];
    execFileSync('sh', ['-ec', command], { cwd: project, env: env(), stdio: 'pipe' });
  }
};
const titles = (): string[] => ['lib', '.'].map((one) => git(path.join(project, one), 'log', '-1', '--format=%s'));
/** Both repositories at these commits, without other files. */
const back = (commits: readonly string[]): void => {
  for (const [at, one] of ['lib', '.'].entries())
    git(path.join(project, one), 'reset', '-q', '--hard', commits[at] ?? '');
};
/** As an apply leaves the project. */
const applyFiles = (): void => {
  execFileSync('cp', [path.join(inside, 'two.txt'), project]);
  execFileSync('cp', [path.join(inside, 'lib/lib two.txt'), path.join(project, 'lib')]);
};

describe('commits in a submodule and above it', () => {
  it('are joined with applied files by one line for each repository, whichever was named', async () => {
    for (const branch of ['k', undefined]) {
      told = [];
      applyFiles();
      await take(true, branch);
      expect(told.filter((one) => one.includes('git does not check out'))).toHaveLength(1);
      expect(told.filter((one) => one.includes('To keep the files'))).toEqual([
        expect.stringContaining('your branch in lib to the commits: git -C lib reset '),
        expect.stringContaining('your branch to the commits: git reset '),
      ]);
      const [undo = ''] = told.filter((one) => one.includes('run-claude undo'));
      expect(undo).toMatch(
        /: run-claude undo id && git -C lib merge --autostash \S+ \S+ && git merge --autostash \S+ \S+$/,
      );
      const before = ['lib', '.'].map((one) => git(path.join(project, one), 'rev-parse', 'HEAD'));
      paste(told, /To keep the files/);
      expect(titles()).toEqual(['lib two', 'two']);
      expect(git(project, 'status', '--porcelain')).toBe('');
      // The other way, from the state before: undo takes the files away.
      back(before);
      paste([undo.replace('run-claude undo id', 'true')], /true/);
      expect(titles()).toEqual(['lib two', 'two']);
      expect(git(project, 'status', '--porcelain')).toBe('');
      back(before);
    }
  });

  it('are merged by the lines that are printed where nothing was applied', async () => {
    await take(false);
    expect(told).toEqual([
      'Imported refs/run-claude/id/detached-head in lib',
      'The session made these commits in lib on no branch. To take them: git -C lib merge --autostash --ff-only refs/run-claude/id/detached-head',
      'Imported refs/run-claude/id/main',
      'To move main there: git merge --autostash --ff-only refs/run-claude/id/main',
    ]);
    paste(told, /To/);
    expect(titles()).toEqual(['lib two', 'two']);
    expect(git(project, 'status', '--porcelain')).toBe('');
  });

  it('on a branch that you do not have become one by the line that is printed', async () => {
    git(inside, 'checkout', '-q', '-b', 'feature');
    commit(inside, 'three');
    await take(false);
    paste(told, /To make branch feature: git branch feature/);
    expect(git(project, 'log', '-1', '--format=%s', 'feature')).toBe('three');
  });

  it('move your branch after a yes, with what to do about your files where they are as before', async () => {
    const files = 'Your files are as before, so git status shows them as changed. To bring them: run-claude apply id';
    await take(false, undefined, 'y\n');
    expect(told.at(-2)).toMatch(/^Moved main from \w+ to \w+\.$/);
    expect(told.at(-1)).toBe(files);
    expect(git(project, 'status', '--porcelain', 'two.txt')).toBe('D two.txt');
    applyFiles();
    expect(git(project, 'status', '--porcelain', 'two.txt')).toBe('');
    git(project, 'reset', '-q', 'HEAD~1');
    told = [];
    await take(true, undefined, 'y\n');
    expect(told).not.toContain(files);
    expect(git(project, 'log', '-1', '--format=%s')).toBe('two');
    // Declined, the command is printed.
    git(project, 'reset', '-q', 'HEAD~1');
    told = [];
    await take(false, undefined, 'n\n');
    expect(told.at(-1)).toBe('To move main there: git merge --autostash --ff-only refs/run-claude/id/main');
  });

  it('are named where a repository has several branches', () => {
    git(path.join(inside, 'lib'), 'branch', 'x');
    git(path.join(inside, 'lib'), 'branch', 'y');
    const made = receive();
    try {
      expect(() => planBranches(made, 'k')).toThrow(/^lib: .*several branches/);
    } finally {
      for (const { received } of made) received[Symbol.dispose]();
    }
  });
});
