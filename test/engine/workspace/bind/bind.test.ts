import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULTS } from '../../../../src/core/config/settings.ts';
import { probeProject } from '../../../../src/core/host/facts.ts';
import type { Mount } from '../../../../src/core/types/engine.ts';
import type { SessionEvent } from '../../../../src/core/types/event.ts';
import type { Plan } from '../../../../src/core/types/plan.ts';
import { ownerOf } from '../../../../src/engines/engine/connect.ts';
import { type BindOutcome, type BindSession, closeBind, openBind } from '../../../../src/workspace/bind/session.ts';
import { readSnapshot } from '../../../../src/workspace/bind/snapshot.ts';
import { connectForTest } from '../../../support/engine.ts';
import { testImage } from '../../../support/image.ts';

let image = '';
beforeAll(async () => {
  const engine = await connectForTest();
  image = await testImage(engine);
  await engine.close();
});

const USER = 1000;

/** A project of another user's, a record's directory, and containers that see the project as a bind session's agent. */
class Bench implements Disposable {
  readonly root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-bind-')));
  readonly main = path.join(this.root, 'project');
  readonly marker = path.join(this.root, 'project', 'EXECUTED');
  private readonly containers: string[] = [];
  readonly told: string[] = [];

  constructor() {
    mkdirSync(path.join(this.main, 'sub'), { recursive: true });
    writeFileSync(path.join(this.main, 'a.txt'), 'a\n');
    writeFileSync(path.join(this.main, 'sub', 'Makefile'), 'all:\n');
  }

  git(cwd: string, ...args: readonly string[]): string {
    const own = ['-c', 'safe.directory=*', '-c', 'user.name=P', '-c', 'user.email=p@example.org'];
    const env = { PATH: process.env['PATH'] ?? '', HOME: this.root, GIT_CONFIG_NOSYSTEM: '1' };
    return execFileSync('git', [...own, ...args], { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }

  repository(dir = this.main): void {
    this.git(dir, 'init', '-q', '-b', 'main');
    this.git(dir, 'add', '-A');
    this.git(dir, 'commit', '-q', '-m', 'first');
    this.git(dir, 'remote', 'add', 'origin', 'https://user:TOKEN-IN-URL@example.org/x.git');
  }

  /** A work tree of a bare repository, and nothing else. */
  bareWithWorktree(): string {
    const [bare, tree] = [path.join(this.root, 'bare'), path.join(this.root, 'tree')];
    this.repository();
    this.git(this.root, 'clone', '-q', '--bare', this.main, bare);
    this.git(bare, 'worktree', 'add', '-q', tree);
    return tree;
  }

  plan(project = this.main): Plan {
    const sessionDir = path.join(this.root, 'state', 'sessions', '261121-140512-k7p');
    mkdirSync(sessionDir, { recursive: true });
    execFileSync('chown', ['-R', `${USER}:${USER}`, project]);
    const facts = probeProject(project, { repo: false });
    const policy = { ...DEFAULTS };
    const baseDir = path.join(this.root, 'base');
    return {
      sessionId: '261121-140512-k7p',
      sessionDir,
      baseDir,
      project: facts,
      policy,
      user: `${USER}:${USER}`,
    } as Plan;
  }

  async open(plan: Plan): Promise<BindSession> {
    const isWatched = (name: string): boolean => name.endsWith('Makefile');
    const tell = (event: SessionEvent): void => void ('text' in event && this.told.push(event.text));
    return openBind({ plan, isWatched, tell, mayUnmask: async () => false });
  }

  async close(plan: Plan, session: BindSession, yes?: boolean): Promise<BindOutcome> {
    const snapshot = readSnapshot(plan.sessionDir);
    expect(snapshot).toEqual(session.snapshot);
    return closeBind({
      plan,
      snapshot: session.snapshot,
      tell: (event) => void ('text' in event && this.told.push(event.text)),
      ask: yes === undefined ? undefined : async () => yes,
      audit: async () => [],
    });
  }

  /** A shell inside, without capabilities, with these mounts; stays until the bench is disposed. */
  inside(mounts: readonly Mount[]): (script: string) => string {
    const owner = ownerOf(this.root);
    const id = execFileSync(
      'docker',
      [
        ...[
          'run',
          '-d',
          '--network',
          'none',
          '--cap-drop',
          'ALL',
          '--security-opt',
          'no-new-privileges',
          '--read-only',
        ],
        ...['--label', 'run-claude.session=261121-140512-k7p', '--label', `run-claude.owner=${owner}`],
        ...['--user', `${USER}:${USER}`, '--workdir', '/workspace', '--tmpfs', '/run', '--tmpfs', '/tmp'],
        ...mounts.flatMap((mount) =>
          mount.kind === 'bind'
            ? ['--mount', `type=bind,source=${mount.source},target=${mount.target}${mount.readonly ? ',readonly' : ''}`]
            : [],
        ),
        ...['--entrypoint', 'sleep', image, '600'],
      ],
      { encoding: 'utf8' },
    ).trim();
    this.containers.push(id);
    return (script) => execFileSync('docker', ['exec', id, 'sh', '-c', `${script}\nexit 0`], { encoding: 'utf8' });
  }

  stop(): void {
    for (const id of this.containers.splice(0)) execFileSync('docker', ['rm', '-f', id], { stdio: 'ignore' });
  }

  [Symbol.dispose](): void {
    this.stop();
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Every name, kind, mode and byte below a path. */
function digest(at: string): string {
  const hash = createHash('sha256');
  const visit = (one: string): void => {
    const stat = lstatSync(one);
    hash.update(`${one}\0${stat.mode}\0`);
    if (stat.isDirectory()) for (const name of readdirSync(one).sort()) visit(path.join(one, name));
    else hash.update(stat.isSymbolicLink() ? readlinkSync(one) : readFileSync(one));
  };
  visit(at);
  return hash.digest('hex');
}

/** A configuration that makes `git status` touch the marker. */
const FSMONITOR = '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = touch EXECUTED; false\\n';
const RENAME = `mv .git .g2; mkdir -p .git/objects .git/refs; echo ref: refs/heads/main > .git/HEAD
printf '${FSMONITOR}' > .git/config`;
const COMMONDIR = `mkdir -p evil/objects evil/refs; printf '${FSMONITOR}' > evil/config; echo ../evil > .git/commondir`;
const WRITES = `printf '${FSMONITOR}' > .git/config; printf '${FSMONITOR}' > .git/config.worktree
printf '#!/bin/sh\\ntouch EXECUTED\\n' > .git/hooks/post-checkout; rm -rf .git; ln -sfn evil .git; umount .git`;

const COMMIT = 'git -c user.name=A -c user.email=a@example.org commit -q --allow-empty -m "made inside"';

let bench: Bench;
afterEach(() => bench[Symbol.dispose]());

describe('a .git that is a directory', () => {
  it('is byte-identical at every moment, and git on the host executes nothing', async () => {
    bench = new Bench();
    bench.repository();
    const plan = bench.plan();
    const before = digest(path.join(bench.main, '.git'));
    const session = await bench.open(plan);
    const inside = bench.inside(session.mounts);
    expect(inside('cat .git/config')).not.toContain('TOKEN-IN-URL');
    expect(inside(`git status --porcelain; ${COMMIT}; git log --format=%s`)).toBe('made inside\nfirst\n');
    inside('git gc -q; git repack -adq; rm -rf /run/run-claude/objects/0/*; mkdir /run/run-claude/objects/0/x');
    expect(digest(path.join(bench.main, '.git'))).toBe(before);
    for (const attack of [RENAME, COMMONDIR, WRITES]) {
      inside(attack);
      expect(digest(path.join(bench.main, '.git'))).toBe(before);
      // Only reads: the host's own index refresh would be a change that this test makes.
      bench.git(bench.main, '--no-optional-locks', 'status', '--porcelain');
      expect(existsSync(bench.marker)).toBe(false);
    }
    inside('echo b > a.txt');
    bench.stop();
    const outcome = await bench.close(plan, session);
    expect(outcome.changes).toContainEqual(expect.objectContaining({ path: 'a.txt', kind: 'modified' }));
    expect(outcome.heldBack).toBe(0);
    expect(digest(path.join(bench.main, '.git'))).toBe(before);
  });

  it('control: each of these attacks succeeds when only its files are pinned', async () => {
    for (const attack of [RENAME, COMMONDIR]) {
      bench = new Bench();
      bench.repository();
      const plan = bench.plan();
      const session = await bench.open(plan);
      const pins = ['config', 'hooks'].map((part) => ({
        kind: 'bind' as const,
        source: path.join(bench.main, '.git', part),
        target: `/workspace/.git/${part}`,
        readonly: true,
      }));
      bench.inside([...session.mounts.slice(0, 1), ...pins])(attack);
      bench.git(bench.main, 'status', '--porcelain');
      expect(existsSync(bench.marker)).toBe(true);
      bench[Symbol.dispose]();
    }
  });
});

it('works inside with submodules and borrowed objects', async () => {
  bench = new Bench();
  const lender = path.join(bench.root, 'lender');
  bench.repository();
  bench.git(bench.root, 'clone', '-q', bench.main, lender);
  bench.git(lender, 'commit', '-q', '--allow-empty', '-m', 'lent');
  const project = path.join(bench.root, 'borrower');
  bench.git(bench.root, 'clone', '-q', '--shared', lender, project);
  bench.git(project, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', bench.main, 'lib/sub');
  bench.git(project, 'commit', '-q', '-m', 'with a submodule');
  const plan = bench.plan(project);
  const session = await bench.open(plan);
  const inside = bench.inside(session.mounts);
  expect(inside('git status --porcelain 2>&1; git log --format=%s 2>&1')).toBe('with a submodule\nlent\nfirst\n');
  expect(inside(`cd lib/sub && ${COMMIT}; git log --format=%s 2>&1`)).toBe('made inside\nfirst\n');
  expect(inside('git fsck 2>&1 | grep -v "^dangling"; git status --porcelain 2>&1')).toBe(' M lib/sub\n');
  expect(bench.git(path.join(project, 'lib', 'sub'), 'log', '--format=%s')).toBe('first\n');
});

/** What a session does first, without a word of git on its error output. */
const WORK = `exec 2>&1; git rev-parse --is-inside-work-tree; git status --porcelain; echo i > inside.txt
git add inside.txt; ${COMMIT}; git log --format=%s; git checkout -q -b other; git stash list; git config color.ui never
git gc -q; git branch new; git status --porcelain`;
const DONE = 'true\nmade inside\nfirst\n';

it.each([
  ['a linked work tree of a bare repository', () => bench.bareWithWorktree()],
  [
    'the same, where the repository’s own work tree says that it is bare',
    () => {
      const project = bench.bareWithWorktree();
      const common = path.join(bench.root, 'bare');
      bench.git(common, 'config', 'extensions.worktreeConfig', 'true');
      bench.git(common, 'config', '--unset', 'core.bare');
      bench.git(common, 'config', '-f', 'config.worktree', 'core.bare', 'true');
      return project;
    },
  ],
  [
    'a repository in a separate directory',
    () => {
      bench.repository();
      bench.git(bench.main, 'init', '-q', '--separate-git-dir', path.join(bench.root, 'elsewhere'));
      return bench.main;
    },
  ],
  [
    'a linked work tree, whose main one is in the middle of a bisection',
    () => {
      bench.repository();
      const tree = path.join(bench.root, 'tree');
      bench.git(bench.main, 'worktree', 'add', '-q', tree);
      bench.git(bench.main, 'bisect', 'start');
      return tree;
    },
  ],
  [
    'a repository in which a git was killed',
    () => {
      bench.repository();
      for (const name of ['index.lock', 'HEAD.lock', 'config.lock', 'packed-refs.new', 'gc.pid', 'refs/heads/new.lock'])
        writeFileSync(path.join(bench.main, '.git', name), '4711 host');
      return bench.main;
    },
  ],
])('git works inside %s as outside', async (_, lay) => {
  bench = new Bench();
  const project = lay();
  const plan = bench.plan(project);
  const inside = bench.inside((await bench.open(plan)).mounts);
  expect(inside(WORK)).toBe(DONE);
});

it('git works inside a linked work tree with a submodule, which has one itself', async () => {
  bench = new Bench();
  bench.repository();
  const file = ['-c', 'protocol.file.allow=always'];
  const library = path.join(bench.root, 'library');
  bench.git(bench.root, 'clone', '-q', bench.main, library);
  bench.git(library, ...file, 'submodule', 'add', '-q', bench.main, 'deep');
  bench.git(library, 'commit', '-q', '-m', 'of the library');
  bench.git(bench.main, ...file, 'submodule', 'add', '-q', library, 'third/lib');
  bench.git(bench.main, 'commit', '-q', '-m', 'with a submodule');
  const tree = path.join(bench.root, 'tree');
  bench.git(bench.main, 'worktree', 'add', '-q', tree);
  bench.git(tree, ...file, 'submodule', 'update', '-q', '--init', '--recursive');
  const before = ['third/lib/.git', 'third/lib/deep/.git'].map((name) => readFileSync(path.join(tree, name), 'utf8'));
  const session = await bench.open(bench.plan(tree));
  const inside = bench.inside(session.mounts);
  const paths = "git status --porcelain 2>&1; git submodule status --recursive 2>&1 | cut -d ' ' -f 3";
  expect(inside(paths)).toBe('third/lib\nthird/lib/deep\n');
  expect(inside(`cd third/lib && ${COMMIT}; git log --format=%s 2>&1`)).toBe('made inside\nof the library\nfirst\n');
  expect(inside('cd third/lib/deep && git log --format=%s 2>&1; cd /workspace; git status --porcelain 2>&1')).toBe(
    'first\n M third/lib\n',
  );
  bench.stop();
  expect(bench.git(path.join(tree, 'third/lib'), 'log', '--format=%s')).toBe('of the library\nfirst\n');
  expect(['third/lib/.git', 'third/lib/deep/.git'].map((name) => readFileSync(path.join(tree, name), 'utf8'))).toEqual(
    before,
  );
});

it('git works inside a repository whose work tree is a folder of the project', async () => {
  bench = new Bench();
  bench.repository(path.join(bench.main, 'sub'));
  renameSync(path.join(bench.main, 'sub/.git'), path.join(bench.main, '.git'));
  bench.git(bench.main, 'config', 'core.worktree', '../sub');
  const inside = bench.inside((await bench.open(bench.plan())).mounts);
  expect(
    inside('git rev-parse --show-toplevel; git status --porcelain; echo changed > sub/Makefile; git status -s'),
  ).toBe('/workspace/sub\n M Makefile\n');
});

describe('a .git that is a file', () => {
  it('is shielded by a .git file that points to a self-contained repository', async () => {
    bench = new Bench();
    bench.repository();
    const tree = path.join(bench.root, 'tree');
    bench.git(bench.main, 'worktree', 'add', '-q', tree);
    const plan = bench.plan(tree);
    chownSync(tree, USER, USER);
    const before = [digest(path.join(bench.main, '.git')), digest(path.join(tree, '.git'))];
    const session = await bench.open(plan);
    const inside = bench.inside(session.mounts);
    inside(`rm -f .git; mv .git x; ${COMMONDIR}; ${WRITES}; echo gitdir: /workspace/evil > .git; mv .git x`);
    inside(COMMIT);
    expect(inside('git log --format=%s')).toBe('made inside\nfirst\n');
    expect(inside('git status --porcelain')).toContain('?? evil/');
    inside(`printf '${FSMONITOR}' >> /run/run-claude/git/config`);
    bench.git(tree, '--no-optional-locks', 'status', '--porcelain');
    expect([digest(path.join(bench.main, '.git')), digest(path.join(tree, '.git'))]).toEqual(before);
    expect(existsSync(path.join(tree, 'EXECUTED'))).toBe(false);
    expect(inside('cat .git')).toBe('gitdir: /run/run-claude/git\n');
    expect(inside('cat /run/run-claude/git/config')).not.toContain('TOKEN-IN-URL');
  });
});

describe('a repository planted where nothing is shielded', () => {
  it('is moved to quarantine at the end, and a line at the start says not to run git', async () => {
    bench = new Bench();
    const plan = bench.plan();
    const session = await bench.open(plan);
    expect(bench.told.join('\n')).toContain('run no git in it');
    expect(existsSync(path.join(bench.main, '.git'))).toBe(false);
    const inside = bench.inside(session.mounts);
    inside(`${RENAME}; mkdir -p sub/deep/bare/objects sub/deep/bare/refs; cp .git/config .git/HEAD sub/deep/bare
      echo gitdir: ../.git > sub/.git; mkdir locked; mkdir locked/.git; chmod 000 locked; ln -s .git sub/deep/.git`);
    bench.git(bench.main, 'status', '--porcelain');
    expect(existsSync(bench.marker)).toBe(true);
    rmSync(bench.marker);
    bench.stop();
    const outcome = await bench.close(plan, session);
    expect(outcome.heldBack).toBeGreaterThanOrEqual(4);
    for (const gone of ['.git', 'sub/.git', 'sub/deep/.git', 'sub/deep/bare']) {
      expect(lstatSync(path.join(bench.main, gone), { throwIfNoEntry: false }), gone).toBeUndefined();
    }
    expect(() => bench.git(bench.main, 'status')).toThrow();
    expect(existsSync(bench.marker)).toBe(false);
  });

  it('is restored in an existing repository, which can still get commits', async () => {
    bench = new Bench();
    const nested = path.join(bench.main, 'sub');
    bench.repository(nested);
    // One with a login has a mask over its configuration.
    bench.git(nested, 'remote', 'set-url', 'origin', 'https://example.org/x.git');
    const plan = bench.plan();
    const config = readFileSync(path.join(nested, '.git', 'config'), 'utf8');
    const session = await bench.open(plan);
    expect(bench.told.join('\n')).toContain('sub/.git');
    bench.inside(session.mounts)(`cd sub; printf '${FSMONITOR}' > .git/config; echo ../../evil > .git/commondir
      printf '#!/bin/sh\\ntouch EXECUTED\\n' > .git/hooks/post-commit; rm .git/info/exclude; echo x > .git/COMMIT_EDITMSG
      rm -rf .git/hooks; ln -s ../../evil .git/hooks
      echo changed > Makefile`);
    bench.stop();
    const outcome = await bench.close(plan, session);
    expect(outcome.heldBack).toBeGreaterThanOrEqual(4);
    expect(lstatSync(path.join(nested, '.git', 'hooks')).isDirectory()).toBe(true);
    expect(readFileSync(path.join(nested, '.git', 'config'), 'utf8')).toBe(config);
    expect(existsSync(path.join(nested, '.git', 'commondir'))).toBe(false);
    expect(existsSync(path.join(nested, '.git', 'hooks', 'post-commit'))).toBe(false);
    expect(existsSync(path.join(nested, '.git', 'info', 'exclude'))).toBe(true);
    expect(readFileSync(path.join(nested, '.git', 'COMMIT_EDITMSG'), 'utf8')).toBe('x\n');
    const makefile = outcome.changes.find((change) => change.path === 'sub/Makefile');
    expect(makefile).toMatchObject({ kind: 'modified', before: { digest: expect.any(String) } });
    expect(bench.git(nested, 'log', '--format=%s')).toBe('first\n');
  });

  it('stays when the user declines, and a removed repository is reported', async () => {
    bench = new Bench();
    const nested = path.join(bench.main, 'sub');
    bench.repository(nested);
    bench.git(nested, 'remote', 'set-url', 'origin', 'https://example.org/x.git');
    const plan = bench.plan();
    const session = await bench.open(plan);
    bench.inside(session.mounts)('mv sub/.git sub/.g2; mkdir .git; cp sub/.g2/HEAD .git');
    bench.stop();
    const outcome = await bench.close(plan, session, false);
    expect(existsSync(path.join(bench.main, '.git'))).toBe(true);
    expect(outcome.heldBack).toBe(1);
    expect(bench.told.join('\n')).toContain('sub/.git: the repository was removed or moved');
  });
});
