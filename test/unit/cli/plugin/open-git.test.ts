import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPEN_GIT } from '../../../../src/cli/plugin/open-git.ts';
import { matchingEntry } from '../../../../src/cli/plugin/passthrough.ts';
import { repeatHint, seed } from '../../../support/seed.ts';

/** Random commands of each entry that the real git runs. */
const RUNS_PER_ENTRY = 25;

/** Values that make a file where git runs them or writes to them, and values that git reads. */
const VALUES = [
  'touch mark;',
  'sh -c "touch mark"',
  'mark',
  './trap',
  'hello',
  '%G?',
  '%(describe)',
  'HEAD',
  'main',
  '3',
  'a',
  '.',
];

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'open-git-')));
const repository = path.join(root, 'repository');
const trace = path.join(root, 'trace');
const env = {
  PATH: process.env['PATH'],
  HOME: root,
  GIT_CONFIG_NOSYSTEM: '1',
  // The index's own refresh is the one file that a reading git may write.
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TRACE2_EVENT: trace,
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@b',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@b',
};

interface Run {
  readonly programs: readonly string[];
  readonly stderr: string;
}

/** Programs that git starts, by its own trace. */
function runGit(words: readonly string[]): Run {
  rmSync(trace, { force: true });
  const { stderr } = spawnSync('git', words, { cwd: repository, env, input: '', encoding: 'utf8', timeout: 20_000 });
  const events = existsSync(trace) ? readFileSync(trace, 'utf8').trim().split('\n') : [];
  const programs = events
    .map((line) => JSON.parse(line) as { event: string; argv?: string[] })
    .filter(({ event }) => event === 'child_start' || event === 'exec')
    .map(({ argv }) => (argv ?? []).join(' '));
  return { programs, stderr };
}

/** Names and digests of every file of the repository and of the folder above it. */
function digestOf(dir: string): string {
  const names = readdirSync(dir, { recursive: true, withFileTypes: true });
  const lines = names
    .filter((entry) => entry.isFile() && path.join(entry.parentPath, entry.name) !== trace)
    .map(({ parentPath, name }) => path.join(parentPath, name))
    .filter((file) => file !== path.join(repository, '.git/index'))
    .map((file) => `${file} ${createHash('sha256').update(readFileSync(file)).digest('hex')}`);
  return lines.sort().join('\n');
}

/** Every long option and every letter that the installed git has for a subcommand. */
function optionsOf(subcommand: string): { readonly long: readonly string[]; readonly letters: readonly string[] } {
  const outputOf = (words: readonly string[]): string => {
    const { stdout, stderr } = spawnSync('git', words, { cwd: repository, env, encoding: 'utf8' });
    return stdout + stderr;
  };
  const helped = outputOf([subcommand, '--git-completion-helper-all']).match(/--[a-z-]+=?/g) ?? [];
  const letters = [...outputOf([subcommand, '-h']).matchAll(/^ +-([A-Za-z])\b/gm)].map(([, letter = '']) => letter);
  const listed = (OPEN_GIT[subcommand]?.long ?? '').split(' ').map((option) => option.replace('[=]', '='));
  const all = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  // The letters of the subcommand itself are three times as likely as the others.
  return { long: [...new Set([...helped, ...listed])], letters: [...letters, ...letters, ...letters, ...all] };
}

/** The same numbers in each run (a linear congruential generator). */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

type Options = ReturnType<typeof optionsOf>;

function randomWord({ long, letters }: Options, next: (below: number) => number): string {
  const pick = (from: readonly string[]): string => from[next(from.length)] ?? '';
  const bundle = (): string =>
    Array.from({ length: 1 + next(3) }, () => (next(5) === 0 ? String(next(10)) : pick(letters))).join('');
  switch (next(6)) {
    case 0:
      return pick(long).replace(/=$/, next(2) === 0 ? `=${pick(VALUES)}` : '');
    case 1:
      return pick(long).slice(0, 3 + next(6));
    case 2:
      return `-${bundle()}${pick(VALUES)}`;
    case 3:
    case 4:
      return `-${bundle()}`;
    default:
      return pick(VALUES);
  }
}

const commandOf = (words: readonly string[]): string =>
  ['git', ...words]
    .map((word) => `'${word}'`)
    .join(' ')
    .replace("'git'", 'git');

beforeAll(() => {
  mkdirSync(repository);
  const keys =
    'core.pager core.editor core.sshCommand core.askPass gpg.program gpg.ssh.program sequence.editor diff.trap.command ' +
    'man.trap.cmd pager.log pager.grep interactive.diffFilter browser.trap.cmd';
  spawnSync('git', ['init', '-q', '-b', 'main'], { cwd: repository, env });
  for (const key of keys.split(' ')) spawnSync('git', ['config', key, 'touch mark;'], { cwd: repository, env });
  writeFileSync(path.join(repository, 'a'), 'hello\nworld\n');
  writeFileSync(path.join(repository, 'trap'), '#!/bin/sh\ntouch mark\n', { mode: 0o755 });
  spawnSync('git', ['add', '-A'], { cwd: repository, env });
  spawnSync('git', ['commit', '-qm', 'first'], { cwd: repository, env });
  // A commit that says that it is signed: git asks gpg only about one of these.
  const commit = spawnSync('git', ['cat-file', 'commit', 'HEAD'], { cwd: repository, env, encoding: 'utf8' }).stdout;
  const signed = commit.replace(
    '\n\n',
    '\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n',
  );
  const id = spawnSync('git', ['hash-object', '-t', 'commit', '-w', '--stdin'], {
    cwd: repository,
    env,
    input: signed,
    encoding: 'utf8',
  });
  spawnSync('git', ['reset', '-q', '--hard', id.stdout.trim()], { cwd: repository, env });
  spawnSync('git', ['tag', '-am', 'one', 'v1'], { cwd: repository, env });
  writeFileSync(path.join(repository, 'a'), 'hello\nchanged\n');
});

afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

describe('the real git, called by hand', () => {
  it.each([
    [['grep', '-1Otouch mark;', 'hello'], 'touch mark'],
    [['grep', '-nOtouch mark;', 'hello'], 'touch mark'],
    [['log', '--format=%G?'], 'touch mark'],
    [['log', '--show-signature'], 'touch mark'],
  ])('%j starts a program, and no entry lets it through', (words, program) => {
    expect(runGit(words).programs.join('\n')).toContain(program);
    expect(matchingEntry(commandOf(words), [`git ${words[0]} *`])).toBeUndefined();
    rmSync(path.join(repository, 'mark'), { force: true });
  });
});

describe.each(Object.keys(OPEN_GIT))('git %s *', (subcommand) => {
  const entry = `git ${subcommand} *`;

  it('runs nothing and writes nothing with each of its options', () => {
    const { long, letters } = optionsOf(subcommand);
    const words = [
      ...long.flatMap((option) =>
        option.endsWith('=') ? [`${option}3`, `${option}mark`, option.slice(0, -1)] : [option],
      ),
      ...[...new Set(letters)].flatMap((letter) => [`-${letter}`, `-${letter}3`, `-${letter}mark`]),
    ];
    const before = digestOf(root);
    const accepted = words.filter(
      (word) => matchingEntry(commandOf([subcommand, word, 'HEAD']), [entry]) !== undefined,
    );
    const started = accepted.flatMap((word) =>
      runGit([subcommand, word, 'HEAD']).programs.map((program) => `${word}: ${program}`),
    );
    expect(accepted).not.toEqual([]);
    expect(started).toEqual([]);
    expect(digestOf(root)).toBe(before);
  });

  it('runs nothing and writes nothing with random bundles and values', () => {
    const options = optionsOf(subcommand);
    const next = numbersFrom(seed);
    const commands: (readonly string[])[] = [];
    for (let tries = 0; tries < 20_000 && commands.length < RUNS_PER_ENTRY; tries++) {
      const words = [subcommand, ...Array.from({ length: 1 + next(3) }, () => randomWord(options, next))];
      if (matchingEntry(commandOf(words), [entry]) === entry) commands.push(words);
    }
    const before = digestOf(root);
    const started = commands.flatMap((words) =>
      runGit(words).programs.map((program) => `${words.join(' ')}: ${program}`),
    );
    expect(commands).toHaveLength(RUNS_PER_ENTRY);
    expect(started, repeatHint).toEqual([]);
    expect(digestOf(root), repeatHint).toBe(before);
  });
});
