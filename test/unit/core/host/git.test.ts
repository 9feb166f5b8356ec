import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type GitArguments, gitSucceeds, HARDENING, runGit, runGitSync } from '../../../../src/core/host/git.ts';
import { skipUnless } from '../../../support/requirement.ts';

const top = mkdtempSync(path.join(tmpdir(), 'run-claude-git-'));
const repo = path.join(top, 'repo');
const marker = path.join(top, 'marker');
const run = path.join(top, 'planted.sh');
const userEnv = { PATH: process.env['PATH'], HOME: top, GIT_CONFIG_NOSYSTEM: '1' };

/** The user's git, with nothing switched off. */
const plainGit = (...words: string[]): string =>
  execFileSync('git', ['-C', repo, '-c', 'user.name=n', '-c', 'user.email=e', ...words], {
    env: userEnv,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'pipe'],
  }).trim();

/** The same command, plain; its failure does not matter. */
const tryPlainGit = (words: readonly string[], env: NodeJS.ProcessEnv = userEnv): void => {
  spawnSync('git', ['-C', repo, ...words], { env, stdio: 'ignore', timeout: 20_000 });
};

beforeAll(() => {
  writeFileSync(run, `#!/bin/sh\ntouch ${marker}\nexit 1\n`, { mode: 0o755 });
  mkdirSync(repo);
  plainGit('init', '-q', '-b', 'main');
  for (const text of ['one', 'two', 'three']) {
    writeFileSync(path.join(repo, 'f'), `${text}\n`);
    plainGit('add', 'f');
    plainGit('commit', '-qm', text);
  }
  mkdirSync(path.join(repo, '.git', 'info'), { recursive: true });
});
afterEach(() => {
  rmSync(marker, { force: true });
  vi.unstubAllEnvs();
});
afterAll(() => rmSync(top, { recursive: true, force: true }));

interface Attack {
  readonly name: string;
  readonly config: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly args: GitArguments;
}

const ATTACKS: readonly Attack[] = [
  {
    name: 'a hook',
    config: {},
    files: { '.git/hooks/reference-transaction': `#!/bin/sh\n${run}\n` },
    args: ['update-ref', 'refs/heads/new', 'HEAD'],
  },
  { name: 'a file system monitor', config: { 'core.fsmonitor': run }, args: ['update-index', '--refresh'] },
  {
    name: 'a driver for text conversion',
    config: { 'diff.planted.textconv': run },
    files: { '.git/info/attributes': '* diff=planted\n' },
    args: ['log', '-p'],
  },
  {
    name: 'the ext transport',
    config: { 'protocol.ext.allow': 'always' },
    args: ['fetch', `ext::${run}`],
  },
  {
    name: 'a program for ssh',
    config: { 'core.sshCommand': run, 'protocol.ssh.allow': 'always' },
    args: ['fetch', 'ssh://nowhere.invalid/x'],
  },
  {
    name: 'a proxy program of the git transport',
    config: { 'core.gitProxy': run, 'protocol.git.allow': 'always' },
    args: ['fetch', 'git://nowhere.invalid/x'],
  },
  {
    name: 'a remote helper behind an address that was rewritten',
    config: { 'protocol.ext.allow': 'always', [`url.ext::${run} .insteadOf`]: 'https://example.invalid/' },
    args: ['fetch', 'https://example.invalid/x'],
  },
  {
    name: 'the upload-pack of a partial clone',
    config: {
      'core.repositoryFormatVersion': '1',
      'extensions.partialClone': 'o',
      'remote.o.promisor': 'true',
      'remote.o.url': repo,
      'remote.o.uploadpack': run,
    },
    args: ['cat-file', '-p', '0123456789012345678901234567890123456789'],
  },
  {
    name: 'a program that checks signatures',
    config: { 'log.showSignature': 'true', 'gpg.program': run },
    args: ['log', '-1', 'signed'],
  },
];

describe.each(ATTACKS)('$name of the repository', ({ config, files = {}, args }) => {
  const configFile = path.join(repo, '.git', 'config');
  it('does not run, but runs under a plain git', async () => {
    const before = readFileSync(configFile);
    try {
      if (args.includes('signed')) {
        const signed = `${plainGit('cat-file', '-p', 'HEAD').replace('\n\n', '\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n')}\n`;
        const id = execFileSync('git', ['-C', repo, 'hash-object', '-t', 'commit', '-w', '--stdin'], {
          env: userEnv,
          input: signed,
        });
        plainGit('update-ref', 'refs/heads/signed', id.toString().trim());
      }
      for (const [key, value] of Object.entries(config)) plainGit('config', key, value);
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(path.dirname(path.join(repo, name)), { recursive: true });
        writeFileSync(path.join(repo, name), text, { mode: 0o755 });
      }
      gitSucceeds(args, { cwd: repo });
      await runGit(args, { cwd: repo, ownerCheckedFor: userEnv }).catch(() => undefined);
      gitSucceeds(args, { cwd: repo, allowsFileTransport: true });
      expect(existsSync(marker)).toBe(false);

      tryPlainGit(args);
      expect(existsSync(marker)).toBe(true);
    } finally {
      writeFileSync(configFile, before);
      for (const name of Object.keys(files)) rmSync(path.join(repo, name));
    }
  });
});

it('runs no credential helper, even when a server demands a password', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const args: GitArguments = ['fetch', `http://127.0.0.1:${port}/x`];
  plainGit('config', 'credential.helper', `!${run}`);
  plainGit('config', 'protocol.http.allow', 'always');
  try {
    await expect(runGit(args, { cwd: repo })).rejects.toThrow(/transport 'http' not allowed/);
    expect(existsSync(marker)).toBe(false);
    const plain = spawn('git', ['-C', repo, ...args], {
      env: { ...userEnv, GIT_TERMINAL_PROMPT: '0' },
      stdio: 'ignore',
    });
    await new Promise((resolve) => plain.on('close', resolve));
    expect(existsSync(marker)).toBe(true);
  } finally {
    server.close();
    plainGit('config', '--unset', 'credential.helper');
  }
});

it('lets no repository override a setting', () => {
  const configFile = path.join(repo, '.git', 'config');
  const before = readFileSync(configFile, 'utf8');
  try {
    const planted = HARDENING.map((row) =>
      row.replace(/^(.*)\.([^.=]+)=.*$/s, (_, name: string, key: string) => {
        const [section = '', ...subsection] = name.split('.');
        return `[${section}${subsection.length > 0 ? ` "${subsection.join('.')}"` : ''}]\n\t${key} = planted\n`;
      }),
    );
    writeFileSync(configFile, before + planted.join(''));
    const settingsOf = (output: string): Map<string, string> =>
      new Map(output.split('\0').map((item) => [item.split('\n')[0] ?? '', item.split('\n')[1] ?? '']));
    const plain = settingsOf(plainGit('config', '--list', '-z'));
    const words = ['config', '--list', '-z'] as unknown as GitArguments;
    const hardened = settingsOf(runGitSync(words, { cwd: repo }).toString());
    for (const row of HARDENING) {
      const [key = '', value] = row.split(/=(.*)/s);
      expect([key, plain.get(key.toLowerCase())]).toEqual([key, 'planted']);
      expect([key, hardened.get(key.toLowerCase())]).toEqual([key, value]);
    }
  } finally {
    writeFileSync(configFile, before);
  }
});

it('reads the commit graph only on request', () => {
  const words = ['config', '--get', 'core.commitGraph'] as unknown as GitArguments;
  const setting = (readsCommitGraph: boolean): string =>
    runGitSync(words, { cwd: repo, readsCommitGraph }).toString().trim();
  expect([setting(false), setting(true)]).toEqual(['false', 'true']);
});

it('passes no variable of this process to git', async () => {
  const planted: Readonly<Record<string, string>> = {
    GIT_DIR: '/nonexistent',
    GIT_OBJECT_DIRECTORY: '/nonexistent',
    GIT_EXTERNAL_DIFF: run,
    GIT_SSH_COMMAND: run,
    GIT_TRACE: marker,
    GIT_CONFIG_PARAMETERS: "'core.fsmonitor'='x'",
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.fsmonitor',
    GIT_CONFIG_VALUE_0: run,
    LD_PRELOAD: '/nonexistent.so',
  };
  for (const [name, value] of Object.entries(planted)) vi.stubEnv(name, value);
  const head = runGitSync(['rev-parse', 'HEAD'], { cwd: repo }).toString().trim();
  const ownerCheckedFor = { ...process.env, ...userEnv };
  expect((await runGit(['rev-parse', 'HEAD'], { cwd: repo, ownerCheckedFor })).toString().trim()).toBe(head);
  expect(gitSucceeds(['update-index', '--refresh'], { cwd: repo })).toBe(true);
  expect(gitSucceeds(['diff-tree', '-p', 'HEAD'], { cwd: repo })).toBe(true);
  expect(existsSync(marker)).toBe(false);
});

describe('history', () => {
  const idOf = (name: string): string => plainGit('rev-parse', name);
  const newest = (): string => runGitSync(['log', '-1', '--format=%s', 'main'], { cwd: repo }).toString().trim();
  const parents = (): string => runGitSync(['rev-list', '--parents', '-1', 'main'], { cwd: repo }).toString().trim();

  it('is not changed by replacement references', () => {
    plainGit('replace', 'main', 'main~1');
    expect(plainGit('log', '-1', '--format=%s', 'main')).toBe('two');
    expect(newest()).toBe('three');
    plainGit('replace', '-d', 'main');
  });

  it('is not changed by grafts', () => {
    const [head, first] = [idOf('main'), idOf('main~2')];
    const grafts = path.join(repo, '.git', 'info', 'grafts');
    const before = parents();
    writeFileSync(grafts, `${head} ${first}\n`);
    expect(plainGit('rev-list', '--parents', '-1', 'main')).toBe(`${head} ${first}`);
    expect(parents()).toBe(before);
    rmSync(grafts);
  });
});

it('reads a repository of another owner; where owners are checked, only with the consent of the user', async (context) => {
  skipUnless(process.getuid?.() === 0, 'needs root, which alone can give a repository to another user', context);
  const home = mkdtempSync(path.join(top, 'home-'));
  const ownerCheckedFor = { PATH: process.env['PATH'], HOME: home };
  chownSync(repo, 12_345, 12_345);
  try {
    expect(gitSucceeds(['rev-parse', 'HEAD'], { cwd: repo })).toBe(true);
    await expect(runGit(['rev-parse', 'HEAD'], { cwd: repo, ownerCheckedFor })).rejects.toThrow(/dubious ownership/);
    writeFileSync(path.join(home, '.gitconfig'), `[safe]\n\tdirectory = ${repo}\n`);
    await expect(runGit(['rev-parse', 'HEAD'], { cwd: repo, ownerCheckedFor })).resolves.toBeDefined();
  } finally {
    chownSync(repo, 0, 0);
  }
});

describe('limits', () => {
  const shim = (script: string): void => {
    const dir = mkdtempSync(path.join(top, 'shim-'));
    writeFileSync(path.join(dir, 'git'), `#!/bin/sh\n${script}\n`);
    chmodSync(path.join(dir, 'git'), 0o755);
    vi.stubEnv('PATH', `${dir}:${process.env['PATH']}`);
  };

  it('of memory and of processor time apply to git', async () => {
    shim('ulimit -v; ulimit -t');
    const memory = process.platform === 'linux' ? '4194304' : 'unlimited';
    expect(runGitSync(['rev-parse'], { timeoutMs: 7_000 }).toString()).toBe(`${memory}\n7\n`);
    expect((await runGit(['rev-parse'])).toString()).toBe(`${memory}\n300\n`);
  });

  it('of elapsed time end git', async () => {
    shim('exec sleep 60');
    expect(() => runGitSync(['rev-parse'], { timeoutMs: 200 })).toThrow(/^git rev-parse took longer than 0.2 s$/);
    await expect(runGit(['rev-parse'], { timeoutMs: 200 })).rejects.toMatchObject({ code: 'GIT_TIMEOUT' });
  });

  it('of output end git', async () => {
    shim('exec yes');
    const tooMuch = expect.objectContaining({ code: 'GIT_TOO_MUCH' });
    expect(() => runGitSync(['rev-parse'], { maxOutputBytes: 1 << 20 })).toThrow(tooMuch);
    await expect(runGit(['rev-parse'], { maxOutputBytes: 1 << 20 })).rejects.toEqual(tooMuch);
  });

  it('report no error for a git that ends before it reads its input', async () => {
    shim('exit 0');
    const input = Buffer.alloc(1 << 22);
    expect(runGitSync(['rev-parse'], { input })).toEqual(Buffer.alloc(0));
    await expect(runGit(['rev-parse'], { input })).resolves.toEqual(Buffer.alloc(0));
  });
});

it('distinguishes a missing git from one that fails', async () => {
  const missing = expect.objectContaining({ code: 'GIT_MISSING', hint: 'Install git.' });
  vi.stubEnv('PATH', '/nonexistent');
  expect(() => runGitSync(['rev-parse'])).toThrow(missing);
  await expect(runGit(['rev-parse'])).rejects.toEqual(missing);
  vi.unstubAllEnvs();
  expect(() => runGitSync(['rev-parse', '--verify', 'none'], { cwd: repo })).toThrow(
    expect.objectContaining({ code: 'GIT_FAILED', message: 'git rev-parse failed: fatal: Needed a single revision' }),
  );
});

const GIT_CALL =
  /(?:spawn|spawnSync|exec|execSync|execFile|execFileSync|run|runProgram)\)?\(\s*\[?\s*(['"`])(?:\/\S*\/)?git\b(?!\1\])/;

/** A script that ends in git, or git under another name of the call. One of a container starts no process of the host. */
const GIT_NAMED = /\bexec git |(['"`])(?:\/\S*\/)?git\1/;

const startsGit = (source: string): boolean =>
  GIT_CALL.test(source) || (GIT_NAMED.test(source) && source.includes('node:child_process'));

it('is the only file of src/ that starts git, but for what pushes and signs as the user does', () => {
  const src = path.resolve(import.meta.dirname, '../../../../src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const callers = files.filter((file) => startsGit(readFileSync(path.join(src, file), 'utf8')));
  expect(callers.sort()).toEqual(['core/host/git.ts', 'core/host/user-git.ts']);
  const users = files.filter((file) => readFileSync(path.join(src, file), 'utf8').includes('/user-git.ts'));
  // The pull request that is audited is read with the login of gh.
  const pullRequest = 'cli/audit/platforms/audit-pull-request.ts';
  expect(users.filter((file) => !file.startsWith('review/publish/'))).toEqual([pullRequest]);
});

it.each([
  "spawn('git', ['status'])",
  "started('git', ['status'])",
  "promisify(execFile)('git', words)",
  "run(['git', '-C', project])",
  'execSync(`git status`)',
  "spawnSync('/usr/bin/git', [])",
  "spawnSync('/bin/sh', ['-c', 'cd x; exec git status'])",
])('finds a call in another file: %s', (source) => {
  expect(startsGit(`import 'node:child_process'; ${source}`)).toBe(true);
});
