import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeTree, removeTreeSync } from '../../../src/core/host/files/remove-tree.ts';
import { packageRoot } from '../../../src/core/host/package.ts';
import { writeBsdTools, writeProgram } from '../../support/darwin/bsd-tools.ts';

let root = '';
let bin = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'rc-bsd-'));
  bin = join(root, 'bin');
  mkdirSync(bin);
  writeBsdTools(bin);
});
afterEach(() => rmSync(root, { recursive: true }));

interface ScriptEnd {
  readonly status: number;
  readonly output: string;
}

/** Runs a script of the repository as on a Mac. */
function run(script: string, env: Record<string, string> = {}): Promise<ScriptEnd> {
  const options = { cwd: packageRoot, env: { PATH: bin, HOME: root, TMPDIR: root, ...env } };
  return new Promise((done) => {
    execFile('/bin/sh', [resolve(packageRoot, 'scripts', script)], options, (error, stdout, stderr) => {
      done({ status: typeof error?.code === 'number' ? error.code : 0, output: stdout + stderr });
    });
  });
}

const refused = (): string => (existsSync(join(bin, 'refused')) ? readFileSync(join(bin, 'refused'), 'utf8') : '');
const calls = (): string => readFileSync(join(root, 'calls'), 'utf8');
/** Only notes that it was called. */
const writeNoting = (tool: string): void => writeProgram(join(bin, tool), `echo "${tool} $*" >>"${root}/calls"\n`);

describe('install-engine.sh on macOS', () => {
  it('does nothing next to an engine that answers', async () => {
    writeProgram(join(bin, 'docker'), '[ "$*" = version ]\n');
    expect(await run('install-engine.sh')).toEqual({ status: 0, output: '' });
    expect(refused()).toBe('');
  });
  it('finds OrbStack where the docker command is not in PATH', async () => {
    const socket = join(root, '.orbstack/run/docker.sock');
    mkdirSync(join(root, '.orbstack/run'), { recursive: true });
    writeProgram(join(bin, 'curl'), 'exec /usr/bin/curl "$@"\n');
    const server = createServer((_, response) => response.end('OK'));
    await new Promise<void>((done) => server.listen(socket, done));
    // An engine of this machine must not answer in its place.
    const only = readFileSync(join(packageRoot, 'scripts/install-engine.sh'), 'utf8').replace(
      '/var/run/docker.sock ',
      '',
    );
    writeFileSync(join(root, 'install-engine.sh'), only);
    try {
      expect(await run(join(root, 'install-engine.sh'))).toEqual({ status: 0, output: '' });
    } finally {
      await new Promise((done) => server.close(done));
    }
  });
  it('names what to install where none answers, and does not wait for ever', async () => {
    rmSync(join(bin, 'sleep'));
    writeProgram(join(bin, 'sleep'), 'exec /bin/sleep 0.2\n');
    writeProgram(join(bin, 'docker'), 'exec /bin/sleep 600\n');
    const { status, output } = await run('install-engine.sh');
    expect(status).toBe(1);
    expect(output).toContain('Start OrbStack or Docker Desktop');
    expect(output).toContain('brew install --cask orbstack');
    expect(refused()).toBe('');
  });
});

it('install-tools.sh names the tools of Homebrew, and asks for none of Linux', async () => {
  const { status, output } = await run('install-tools.sh');
  expect(status).toBe(1);
  expect(output).toBe('[setup] The tests also need: brew install shellcheck tmux\n');
  for (const tool of ['shellcheck', 'tmux']) writeNoting(tool);
  expect(await run('install-tools.sh')).toEqual({ status: 0, output: '' });
  expect(refused()).toBe('');
});

it('try.sh starts its session with a running engine', async () => {
  for (const tool of ['node', 'npm', 'docker']) writeNoting(tool);
  expect(await run('try.sh')).toMatchObject({ status: 0 });
  expect(calls()).toContain('docker version\nnode dist/main.js build\nnode scripts/try.mjs\n');
  expect(refused()).toBe('');
});

it('check-images.sh checks the shell scripts, and leaves programs for Linux to Linux', async () => {
  for (const tool of ['shellcheck', 'gcc']) writeNoting(tool);
  expect(await run('check-images.sh')).toEqual({ status: 0, output: '' });
  expect(calls()).toContain('scripts/try.sh');
  expect(calls()).not.toContain('gcc');
  expect(refused()).toBe('');
});

it('trees are removed with the tools of BSD', async () => {
  const before = process.env['PATH'];
  process.env['PATH'] = bin;
  try {
    for (const remove of [removeTreeSync, removeTree]) {
      const tree = join(root, 'a tree');
      mkdirSync(join(tree, '-R', 'deep'), { recursive: true });
      writeFileSync(join(tree, '-R', 'file'), '');
      await remove(tree);
      expect(readdirSync(root)).toEqual(['bin']);
    }
  } finally {
    process.env['PATH'] = before;
  }
  expect(refused()).toBe('');
});

/** What no call above reaches, such as the shell's words in a string. */
const GNU_WORDS =
  /\b(sed -i |date (-d|--)|readlink -[em]|stat -c|grep -[a-zA-Z]*P\b|xargs -d|mktemp (--|-p)|cp --|find [^\n]*-printf|sort -V|tar [^\n]*--(owner|sort|transform)|timeout \d)/;

it.each(['scripts', 'src'])('no shell in %s uses an option of GNU', (folder) => {
  const files = readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' });
  const shell = files.filter((file) => /\.(sh|ts|mjs)$/.test(file));
  const found = shell.filter((file) =>
    readFileSync(join(packageRoot, folder, file), 'utf8')
      .split('\n')
      .some((line) => !/^\s*(\/\/|\*|\/\*|#)/.test(line) && GNU_WORDS.test(line)),
  );
  expect(found).toEqual([]);
});
