import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ownVersion } from '../../../../src/core/host/package.ts';
import { openContentStore } from '../../../../src/core/store/content.ts';
import { writeJsonAtomic } from '../../../../src/core/store/record.ts';
import type { ClaudeData } from '../../../../src/core/types/agent/claude-data.ts';
import type { Finding } from '../../../../src/core/types/finding.ts';
import type { ApplyOutcome, ChangeOutcome } from '../../../../src/core/types/session.ts';
import { reviewOf } from '../../../../src/session/end/frozen-review.ts';
import { undoSession } from '../../../../src/session/later/undo.ts';
import { type ApplyPendingOptions, applyPending } from '../../../../src/session/outcome/apply.ts';
import { frozenRequest, stageAfter } from '../../../../src/session/outcome/apply-choice.ts';
import { outcomesWithBranch } from '../../../../src/session/outcome/targets/branch.ts';
import { targetNamed } from '../../../../src/session/outcome/targets/targets.ts';
import { readRecord, writeCollected } from '../../../../src/session/record/session.ts';
import { dir, file, layApply, link, type Nodes, type Sides } from '../../../support/apply/lay.ts';
import { sessionRecord } from '../../../support/session-record.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-branch-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let scenes = 0;

/** Options of `apply --branch`. */
interface BranchOptions extends Partial<ApplyPendingOptions> {
  readonly branch?: string;
  readonly push?: string;
  readonly pr?: string;
  readonly title?: string;
}

const OPTIONS = { filter: { only: [], skip: [] }, conflict: 'ask', dryRun: false, yes: true } as const;

/** A session over a repository whose HEAD has the base; then `host` is laid over the work tree, not committed. */
async function lay(sides: Sides, findings: readonly Partial<Finding>[] = [], hasClaude = false) {
  const place = path.join(root, String(scenes++));
  const home = path.join(place, 'home');
  mkdirSync(home, { recursive: true });
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_DATE: '2026-11-21T14:05:12Z',
    GIT_COMMITTER_DATE: '2026-11-21T14:05:12Z',
  };
  const state = path.join(place, 'state');
  const scene = await layApply(path.join(place, 'project'), state, { ...sides, host: sides.base });
  const { project, sessionDir, changes } = scene;
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: project, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const config = (...args: string[]): string => git('config', '--global', ...args);
  config('user.name', 'You');
  config('user.email', 'you@example.org');
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  writeCollected(sessionDir, {
    version: 1,
    changes,
    findings: findings as Finding[],
    problems: [],
    withheld: [],
    baseEntries: 99,
    ...(hasClaude && { claude: await claudePlan(sessionDir) }),
  });
  const plan = { sessionId: '1', sessionDir, project: { root: project } };
  writeJsonAtomic(path.join(sessionDir, 'session.json'), sessionRecord({ stage: 'pending', plan }));
  const said: string[] = [];
  const interruption = { signal: new AbortController().signal, by: () => undefined };
  const tell = (event: { readonly text?: string }): void => void said.push(event.text ?? '');
  const host = { dataDir: path.join(place, 'data'), home };
  const deps = { host, tell, screen: undefined, interruption } as unknown as Parameters<typeof applyPending>[1];
  const record = () => readRecord(sessionDir) as NonNullable<ReturnType<typeof readRecord>>;
  const openBranch = (words: Readonly<Record<string, string>>) =>
    targetNamed(new Map(Object.entries(words)), 'ask').open(record(), deps, {
      ...{ cwd: project, env, given: new Map(Object.entries(words)) },
    });
  const apply = async ({ branch = 'work', push, pr, title, ...more }: BranchOptions = {}) => {
    const words = Object.entries({ branch, push, pr, title });
    const given = new Map(words.flatMap(([name, word]) => (word === undefined ? [] : [[name, word] as const])));
    const options = { ...OPTIONS, ...more };
    const row = targetNamed(given, options.conflict);
    const target = await row.open(record(), deps, { cwd: project, env, given });
    return applyPending(record(), deps, options, target);
  };
  const applyToFiles = () => applyPending(record(), deps, OPTIONS);
  const undo = () => undoSession(record(), deps, { dryRun: false, yes: true });
  const tree = (): Nodes =>
    Object.fromEntries(Object.entries(scene.now() as Nodes).filter(([name]) => !name.startsWith('.git')));
  const show = (name: string): string => git('show', `work:${name}`);
  return { ...scene, place, env, git, config, deps, said, record, openBranch, apply, applyToFiles, undo, tree, show };
}

/** The same over a repository whose HEAD has pointers of Git LFS. */
async function layLfs(sides: Sides) {
  const scene = await lay(sides);
  const { git, config } = scene;
  config('filter.lfs.clean', 'git-lfs clean -- %f');
  config('filter.lfs.smudge', 'git-lfs smudge -- %f');
  git('add', '--renormalize', '.');
  git('commit', '-q', '--amend', '--no-edit');
  const outcomeOf = (outcome: ApplyOutcome | undefined): readonly ChangeOutcome[] =>
    (outcome?.changes ?? []).filter(({ verdict }) => verdict !== 'applied');
  return { ...scene, outcomeOf };
}

/** A plan that the session wrote into Claude's data. */
async function claudePlan(sessionDir: string): Promise<ClaudeData> {
  const text = Buffer.from('a plan\n');
  const { digest } = await openContentStore(path.join(sessionDir, 'store')).put([text]);
  const change = { path: 'plans/a.md', how: 'create', verdict: 'clean', digest, size: text.length } as const;
  return { changes: [change], attempts: [], findings: [], dropped: {} };
}

/** An executable that writes a file when it runs. */
function trap(folder: string, name: string, more = ''): string {
  mkdirSync(folder, { recursive: true });
  const ran = path.join(folder, `${name}.ran`);
  writeFileSync(path.join(folder, name), `#!/bin/sh\necho "$0 $*" >> '${ran}'\n${more}`);
  chmodSync(path.join(folder, name), 0o755);
  return ran;
}

const SIDES: Sides = {
  base: { 'a.txt': file('1\n2\n3\n4\n5\n'), sub: dir, 'sub/keep': file('k'), 'sub/gone': file('g'), run: file('x\n') },
  session: {
    'a.txt': file('1\n2\n3\n4\nfive\n'),
    sub: dir,
    'sub/keep': file('k'),
    new: dir,
    'new/deep': dir,
    'new/deep/f': file('n'),
    run: file('x\n', 0o755),
    l: link('a.txt'),
  },
};

describe('apply --branch', () => {
  it('makes one commit on top of HEAD, and touches neither index nor work tree nor the current branch', async () => {
    const { apply, git, show, tree, record, undo, project, sessionDir } = await lay(SIDES);
    const before = [
      git('rev-parse', 'HEAD', 'main'),
      readFileSync(path.join(project, '.git/index'), 'latin1'),
      JSON.stringify(tree()),
    ];
    expect((await apply()).status).toBe(0);
    expect([
      git('rev-parse', 'HEAD', 'main'),
      readFileSync(path.join(project, '.git/index'), 'latin1'),
      JSON.stringify(tree()),
    ]).toEqual(before);
    expect(git('rev-parse', 'work^')).toBe(git('rev-parse', 'main'));
    expect(git('log', '-1', '--format=%an <%ae>%n%B', 'work')).toBe(
      `You <you@example.org>\nApply session 1 (5 files changed)\n\nSession 1 of run-claude ${ownVersion()}: 5 files changed.\n\n`,
    );
    expect(git('ls-tree', '-r', '--format=%(objectmode) %(path)', 'work')).toBe(
      '100644 a.txt\n120000 l\n100644 new/deep/f\n100755 run\n100644 sub/keep\n',
    );
    expect(show('a.txt')).toBe('1\n2\n3\n4\nfive\n');
    expect(git('fsck', '--strict')).toBe('');
    expect(record()).toMatchObject({ stage: 'applied', branches: [{ name: 'work' }] });
    expect(record().outcome?.changes.find(({ path: one }) => one === 'a.txt')?.why).toBe('on branch work');
    expect(readdirSync(sessionDir).filter((name) => name.startsWith('branch-'))).toEqual([]);
    await undo();
    expect(git('branch', '--list')).toBe('* main\n');
    expect(record()).toMatchObject({ stage: 'pending' });
    expect(record().branches).toBeUndefined();
  });

  it('merges with what was committed since, and leaves out what conflicts', async () => {
    const { apply, git, show, project, record } = await lay(SIDES);
    writeFileSync(path.join(project, 'a.txt'), 'ONE\n2\n3\n4\n5\n');
    writeFileSync(path.join(project, 'l'), 'a file of mine\n');
    git('add', '-A');
    git('commit', '-qm', 'mine');
    expect((await apply()).status).toBe(122);
    expect(show('a.txt')).toBe('ONE\n2\n3\n4\nfive\n');
    expect(show('l')).toBe('a file of mine\n');
    expect(record().stage).toBe('pending');
    expect(record().outcome?.changes).toContainEqual({
      path: 'l',
      verdict: 'conflict',
      ways: ['theirs'],
      why: expect.stringContaining('in HEAD'),
    });
  });

  it('asks about a conflict only with the answers that a commit can hold', async () => {
    const { openBranch, git, show, project, record, deps, choice } = await lay(SIDES);
    writeFileSync(path.join(project, 'a.txt'), '1\n2\n3\n4\nmine\n');
    git('commit', '-qam', 'mine');
    const asked: (readonly string[])[] = [];
    const target = await openBranch({ branch: 'work' });
    const { outcome } = await target.apply(
      {
        ...{ ...frozenRequest(record(), choice, deps), conflict: 'keep', dryRun: false, audit: () => [] },
        askConflict: async ({ rules }) => {
          asked.push(rules);
          return { rule: 'theirs', forAll: false };
        },
        acceptMerge: async () => true,
      },
      reviewOf(record()),
    );
    expect(asked).toEqual([['keep', 'theirs']]);
    expect(outcome.changes.filter(({ verdict }) => verdict === 'conflict')).toEqual([]);
    expect(show('a.txt')).toBe('1\n2\n3\n4\nfive\n');
  });

  it('keeps on record what another terminal applied to the files since', async () => {
    const { openBranch, record, deps } = await lay(SIDES);
    const seen = record();
    const target = await openBranch({ branch: 'work' });
    await applyPending(seen, deps, { ...OPTIONS, filter: { only: ['a.txt'], skip: [] } });
    await applyPending(seen, deps, OPTIONS, target);
    const changes = new Map(record().outcome?.changes.map(({ path: one, ...rest }) => [one as string, rest]));
    expect(changes.get('a.txt')).toEqual({ verdict: 'applied' });
    expect(changes.get('l')).toMatchObject({ verdict: 'applied', why: 'on branch work' });
  });

  it('takes nothing of the work tree that is not committed', async () => {
    const { apply, show, project } = await lay(SIDES);
    writeFileSync(path.join(project, 'a.txt'), 'edited, not committed\n');
    writeFileSync(path.join(project, 'untracked'), 'x');
    expect((await apply()).status).toBe(0);
    expect(show('a.txt')).toBe('1\n2\n3\n4\nfive\n');
    expect(() => show('untracked')).toThrow();
  });

  it('has only changes that are clean or accepted', async () => {
    const suspect = { rule: 'r', severity: 'suspect', path: 'a.txt' as never, title: 'T', why: 'w' } as const;
    const blocked = { ...suspect, severity: 'blocked', path: 'new/deep/f' as never } as const;
    const { apply, git } = await lay(SIDES, [suspect, blocked]);
    expect((await apply()).status).toBe(121);
    expect(git('diff', '--name-only', 'main', 'work')).toBe('l\nrun\nsub/gone\n');
    expect((await apply({ branch: 'more', allowSuspect: ['/a.txt'] })).status).toBe(121);
    expect(git('diff', '--name-only', 'work', 'more')).toBe('a.txt\n');
  });

  it('makes a new file in a folder of HEAD of which nothing else is chosen', async () => {
    const { apply, git } = await lay({
      base: { sub: dir, 'sub/keep': file('k'), f: file('f') },
      session: { sub: dir, 'sub/keep': file('k'), 'sub/new': file('n'), f: file('f') },
    });
    expect((await apply()).status).toBe(0);
    expect(git('diff', '--name-status', 'main', 'work')).toBe('A\tsub/new\n');
  });

  it('leaves a file of which only some hunks are on the branch pending', () => {
    const part = { path: 'a', verdict: 'applied', why: 'in part' } as ChangeOutcome;
    const changes = outcomesWithBranch([], [part], 'work');
    expect(changes).toEqual([{ path: 'a', verdict: 'skipped', why: 'in part on branch work' }]);
    expect(stageAfter({ changes, at: '' })).toBe('pending');
    // Some hunks are in the files already: that stays so.
    const whole = { path: 'a', verdict: 'applied' } as ChangeOutcome;
    expect(outcomesWithBranch([part], [whole], 'work')).toEqual([part]);
    expect(stageAfter({ changes: [part], at: '' })).toBe('pending');
  });

  it('does not count as applied to the files, until the branch is merged', async () => {
    const { apply, applyToFiles, tree, record } = await lay(SIDES);
    await apply();
    expect((await applyToFiles()).status).toBe(0);
    expect(tree()['a.txt']).toMatchObject({ text: '1\n2\n3\n4\nfive\n' });
    expect(record().outcome?.changes.find(({ path: one }) => one === 'a.txt')).not.toHaveProperty('why');
    const edited = await lay(SIDES);
    await edited.apply();
    writeFileSync(path.join(edited.project, 'a.txt'), '1\n2\n3\n4\nmine\n');
    const { status, outcome: mine } = await edited.applyToFiles();
    expect([status, mine?.changes.find(({ path: one }) => one === 'a.txt')?.verdict]).toEqual([122, 'conflict']);
    const other = await lay(SIDES);
    await other.apply();
    other.git('merge', '-q', 'work');
    const { outcome } = await other.applyToFiles();
    expect(outcome?.changes.filter(({ verdict }) => verdict !== 'same')).toEqual([]);
  });

  it("brings Claude's own data back as an apply to the files does", async () => {
    const { apply, record, place } = await lay(SIDES, [], true);
    await apply();
    expect(record()).toMatchObject({
      stage: 'applied',
      outcome: { claude: [{ path: 'plans/a.md', verdict: 'applied' }] },
    });
    const found = readdirSync(path.join(place, 'data'), { recursive: true }).filter((one) => `${one}`.endsWith('a.md'));
    expect(found).toHaveLength(1);
  });

  it('makes no branch where nothing can be applied, and none in a dry run', async () => {
    const { apply, git, said } = await lay(SIDES);
    expect((await apply({ dryRun: true })).status).toBe(0);
    expect((await apply({ filter: { only: ['none'], skip: [] } })).outcome).toBeDefined();
    expect(git('branch', '--list')).toBe('* main\n');
    expect(said.at(-1)).toContain('was not made');
  });

  it('refuses a name that is not that of a new branch, before anything is asked', async () => {
    const { apply, git, said } = await lay({ base: {}, session: { a: file('a') } });
    const names = ['-d', '--exec=x', 'a..b', 'a b', 'a\nb', 'a:refs/heads/main', '+main', 'refs/heads/../x', 'a~1'];
    for (const branch of [...names, 'x.lock', '@{-1}', '$(id)', 'a;b', 'a`b`', 'a\u200bb', ''])
      await expect(apply({ branch }), branch).rejects.toThrow(/not a valid name/);
    for (const branch of ['main', 'main/x'])
      await expect(apply({ branch }), branch).rejects.toThrow(/there is a branch main already/);
    expect(git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main\n');
    expect(said).toEqual([]);
  });

  it('writes bytes as they are: no filter, line end conversion or hook runs', async () => {
    const { apply, git, show, place, project } = await lay({
      base: { '.gitattributes': file('* text eol=crlf filter=evil\n') },
      session: { '.gitattributes': file('* text eol=crlf filter=evil\n'), 'w.txt': file('a\r\nb\r\n') },
    });
    const ran = ['filter', 'reference-transaction', 'post-commit', 'pre-commit', 'commit-msg'].map((name) =>
      trap(path.join(place, 'hooks'), name, 'cat\n'),
    );
    git('config', 'filter.evil.clean', path.join(place, 'hooks/filter'));
    git('config', 'core.hooksPath', path.join(place, 'hooks'));
    git('config', 'core.fsmonitor', path.join(place, 'hooks/filter'));
    expect((await apply()).status).toBe(0);
    expect(execFileSync('git', ['cat-file', 'blob', 'work:w.txt'], { cwd: project }).toString()).toBe('a\r\nb\r\n');
    expect(show('w.txt')).toContain('\r\n');
    expect(ran.filter((one) => existsSync(one))).toEqual([]);
  });

  it('commits pointers for the files of Git LFS, and puts their contents into the store of the repository', async () => {
    const attributes = file('*.psd filter=lfs\n');
    const { apply, git, project, show, outcomeOf } = await layLfs({
      base: { '.gitattributes': attributes, 'a.psd': file('art'), 'kept.psd': file('kept'), 'x.txt': file('x') },
      session: {
        '.gitattributes': file('*.psd filter=lfs\n*.bin filter=lfs\n'),
        'a.psd': file('other art'),
        'kept.psd': file('kept', 0o755),
        'new.psd': file('new'),
        'empty.psd': file(''),
        'y.bin': file('bin'),
        'x.txt': file('y'),
      },
    });
    const { status, outcome } = await apply();
    expect([status, outcomeOf(outcome)]).toEqual([0, []]);
    const objects = { 'a.psd': 'other art', 'kept.psd': 'kept', 'new.psd': 'new', 'y.bin': 'bin' };
    for (const [name, content] of Object.entries(objects)) {
      const oid = createHash('sha256').update(content).digest('hex');
      expect(show(name), name).toBe(
        `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${content.length}\n`,
      );
      const object = path.join(project, '.git/lfs/objects', oid.slice(0, 2), oid.slice(2, 4), oid);
      expect(readFileSync(object, 'utf8')).toBe(content);
    }
    expect([show('empty.psd'), show('x.txt')]).toEqual(['', 'y']);
    expect(git('diff', '--summary', 'main', 'work', '--', 'kept.psd')).toContain('mode change 100644 => 100755');
    git('lfs', 'fsck', 'work');
  });

  it('leaves what is in a submodule to its own repository', async () => {
    const { apply, git } = await lay({
      base: { a: file('a') },
      session: { a: file('b'), mod: dir, 'mod/f': file('x') },
    });
    git('update-index', '--add', '--cacheinfo', `160000,${git('rev-parse', 'HEAD').trim()},mod`);
    git('commit', '-qm', 'submodule');
    const { status, outcome } = await apply();
    expect([status, git('diff', '--name-only', 'main', 'work')]).toEqual([122, 'a\n']);
    expect(outcome?.changes.find(({ path: one }) => one === 'mod/f')?.why).toContain('in a submodule');
  });

  it('works in a subfolder of a repository', async () => {
    const { apply, git, project } = await lay({ base: { a: file('a') }, session: { a: file('b'), n: file('n') } });
    const top = path.dirname(project);
    rmSync(path.join(project, '.git'), { recursive: true });
    const above = (...args: string[]): string =>
      execFileSync('git', ['-C', top, ...args], {
        encoding: 'utf8',
        env: { ...process.env, HOME: path.join(top, 'home') },
      });
    above('init', '-q', '-b', 'main');
    writeFileSync(path.join(top, 'beside'), 'x');
    above('add', 'project', 'beside');
    above('commit', '-qm', 'first');
    expect((await apply()).status).toBe(0);
    expect(git('diff', '--name-only', 'main', 'work')).toBe('project/a\nproject/n\n');
  });

  it('signs where the user signs, and never with a program that the repository names', async () => {
    const { apply, git, config, place } = await lay(SIDES);
    const key = path.join(place, 'key');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    const ran = trap(path.join(place, 'evil'), 'signer', 'exit 1\n');
    git('config', 'gpg.ssh.program', path.join(place, 'evil/signer'));
    git('config', 'gpg.program', path.join(place, 'evil/signer'));
    config('gpg.format', 'ssh');
    config('user.signingkey', key);
    config('commit.gpgsign', 'true');
    expect((await apply()).status).toBe(0);
    expect(git('cat-file', '-p', 'work')).toContain('-----BEGIN SSH SIGNATURE-----');
    expect(existsSync(ran)).toBe(false);
  });
});

describe('undo of a branch', () => {
  it('deletes one branch after the other, and then undoes the apply to the files before them', async () => {
    const { apply, applyToFiles, git, undo, tree } = await lay(SIDES);
    await applyToFiles();
    await apply({ branch: 'one', filter: { only: ['a.txt'], skip: [] } });
    await apply({ branch: 'two' });
    await undo();
    expect(git('branch', '--list')).toBe('* main\n  one\n');
    await undo();
    expect(git('branch', '--list')).toBe('* main\n');
    expect(tree()).toHaveProperty('l');
    await undo();
    expect(tree()).not.toHaveProperty('l');
  });

  it('keeps a branch that has other commits by now, or is checked out', async () => {
    const { apply, git, undo } = await lay(SIDES);
    await apply();
    git('checkout', '-q', '--force', 'work');
    await expect(undo()).rejects.toThrow(/checked out/);
    git('commit', '-q', '--allow-empty', '-m', 'mine');
    await expect(undo()).rejects.toThrow(/other commits/);
    expect(git('branch', '--list', 'work')).toContain('work');
  });
});

describe('--push and --pr', () => {
  async function withRemote() {
    const scene = await lay({ base: { a: file('a') }, session: { a: file('b'), '@all fixes #1': file('x') } });
    const remote = path.join(scene.place, 'remote.git');
    execFileSync('git', ['init', '-q', '--bare', remote]);
    scene.git('remote', 'add', 'origin', remote);
    const ran = trap(path.join(scene.project, '.git/hooks'), 'pre-push', 'exit 1\n');
    const refs = (): string =>
      execFileSync('git', ['-C', remote, 'for-each-ref', '--format=%(refname) %(objectname)'], { encoding: 'utf8' });
    return { ...scene, remote, ran, refs };
  }

  it('pushes exactly the new branch, runs no hook, and names the commits that go with it', async () => {
    const { apply, git, ran, refs, said, record } = await withRemote();
    git('tag', 'v1');
    git('config', 'push.followTags', 'true');
    git('config', 'remote.origin.push', '+refs/heads/main:refs/heads/main');
    expect((await apply({ push: '' })).status).toBe(0);
    expect(refs()).toBe(`refs/heads/work ${git('rev-parse', 'work')}`);
    expect(existsSync(ran)).toBe(false);
    expect(said).toContain('1 commit of yours that origin lacks is pushed with it.');
    expect(record().branches).toMatchObject([{ name: 'work', pushedTo: 'origin' }]);
  });

  it('never pushes over a branch that the remote has, not even forward', async () => {
    const { apply, git, refs, record } = await withRemote();
    git('push', '-q', '--no-verify', 'origin', 'main:refs/heads/work');
    const before = refs();
    const failure = await apply({ push: 'origin' }).catch((error: unknown) => error);
    expect(String(failure)).toMatch(/git push failed.*(stale info|rejected)/);
    expect(failure).toHaveProperty(
      'hint',
      'Branch work is made. Push it with: git push origin work. Or delete it with: run-claude undo 1',
    );
    expect(refs()).toBe(before);
    expect(record().branches).toMatchObject([{ name: 'work' }]);
  });

  it('opens a pull request with a text that nothing acts on', async () => {
    const { apply, env, place, refs, git } = await withRemote();
    const asked = path.join(place, 'asked.json');
    const gh = path.join(place, 'bin/gh');
    mkdirSync(path.dirname(gh));
    const program = `const fs = require('fs'); const body = process.argv[2] === 'pr' ? fs.readFileSync(0, 'utf8') : '';
const config = Object.keys(process.env).filter((name) => /^GIT_CONFIG_(KEY|VALUE)/.test(name)).map((name) => process.env[name]);
if (body) fs.writeFileSync(${JSON.stringify(asked)}, JSON.stringify({ args: process.argv.slice(2), body, config }));
console.log('https://example.org/pull/1\\x1b]0;x\\x07');`;
    writeFileSync(gh, `#!/usr/bin/env node\n${program}\n`);
    chmodSync(gh, 0o755);
    env['PATH'] = `${path.dirname(gh)}:${env['PATH']}`;
    expect((await apply({ pr: 'main', title: 'A better a' })).status).toBe(0);
    const { args, body, config } = JSON.parse(readFileSync(asked, 'utf8'));
    expect(args).toEqual(['pr', 'create', '--head=work', '--base=main', '--title=A better a', '--body-file=-']);
    expect(body).toContain('- created: `\\x40all fixes \\x231`');
    expect(body).not.toMatch(/@all|#1\b/);
    expect(config).toEqual(expect.arrayContaining(['core.hooksPath', '/dev/null']));
    expect(refs()).toContain(git('rev-parse', 'work').trim());
  });

  it('asks for gh and the remote before it makes anything', async () => {
    const { apply, env, git, place } = await withRemote();
    await expect(apply({ push: 'nowhere' })).rejects.toThrow(/is not a remote/);
    mkdirSync(path.join(place, 'few'));
    execFileSync('ln', [
      '-s',
      execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim(),
      path.join(place, 'few/git'),
    ]);
    env['PATH'] = path.join(place, 'few');
    await expect(apply({ pr: '' })).rejects.toThrow(/gh cannot start/);
    expect(git('branch', '--list', 'work')).toBe('');
  });
});

it('an undo without an apply says so, also where nobody can be asked', async () => {
  const { record, deps, applyToFiles } = await lay(SIDES);
  const undo = () => undoSession(record(), deps, { dryRun: false, yes: false });
  await expect(undo()).rejects.toMatchObject({ code: 'UNDO_NOTHING' });
  await applyToFiles();
  expect(await undo()).toBeUndefined();
});
