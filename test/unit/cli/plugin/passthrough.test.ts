import { describe, expect, it } from 'vitest';
import { entryProblem, matchingEntry } from '../../../../src/cli/plugin/passthrough.ts';

/** Programs that run others, that write, or that nobody knows. */
const OTHERS = (
  'taskset xvfb-run npx npm pnpm yarn tar rsync direnv ash zip unzip make cmake ninja cargo go rustc gcc cc ld pip pipx uv ' +
  'poetry gh glab hub svn hg jj rsh scp sftp curl wget nc ncat socat openssl gpg pass op vault aws gcloud az kubectl helm ' +
  'terraform ansible vagrant virsh qemu-system-x86_64 wine java javac mvn gradle ant bazel buck sbt scala kotlin swift dart ' +
  'flutter gem bundle rake rails composer artisan mix elixir erl ghc cabal stack opam dune julia R Rscript octave gnuplot ' +
  'latexmk pdflatex vite webpack tsc eslint jest vitest pytest tox nox pre-commit husky lefthook watchexec entr nodemon ' +
  'hyperfine perf ltrace valgrind rr numactl chrt prlimit setarch linux64 cpulimit firejail bwrap proot fakeroot catchsegv ' +
  'dbus-run-session xinit startx sg newgrp runcon capsh sysctl mount systemctl service journalctl dd cp mv ln rm touch tee ' +
  'install truncate split sort csplit chmod chown date hostname git-shell toString constructor'
).split(' ');

describe('an entry of the passthrough list', () => {
  it.each([
    'git status',
    'git log *',
    'git log --oneline -5 *',
    'git push origin main',
    'git commit -m wip',
    'gh pr view',
    'make -n',
    'ls *',
    'cargo fmt',
    'npx tsc',
    'tar -tf a.tar',
  ])('%j is accepted', (entry) => {
    expect(entryProblem(entry)).toBeUndefined();
  });

  it('ends in * only for programs that are known to run and write nothing', () => {
    const accepted = OTHERS.filter((program) => entryProblem(`${program} *`) === undefined);
    expect(accepted).toEqual([]);
    expect(entryProblem('taskset *')).toBe(
      'taskset is not known to run and write nothing, so the entry has to name every word, without a * at its end',
    );
  });

  it.each([
    ['docker ps', 'starts containers'],
    ['docker *', 'starts containers'],
    ['podman run *', 'starts containers'],
    ['sudo ls', 'as another user'],
    ['doas ls', 'as another user'],
    ['bash -c *', 'runs any other command'],
    ['env *', 'runs any other command'],
    ['xargs git *', 'runs any other command'],
    ['eval *', 'runs any other command'],
    ['command docker', 'runs any other command'],
    ['python3.12 *', 'a word of the command holds'],
    ['node -e *', 'a word of the command holds'],
    ['run-claude apply', 'way out of the copy'],
    ['claude *', 'way out of the copy'],
    ['DOCKER ps', 'starts containers'],
    ['git', 'no subcommand'],
    ['git *', 'no subcommand'],
    ['git -c core.pager=x log', 'before the subcommand'],
    ['git -C / status', 'before the subcommand'],
    ['git --exec-path=/tmp status', 'before the subcommand'],
    ['git config *', 'has to name every word'],
    ['git rebase --continue', 'runs other programs'],
    ['git submodule update', 'runs other programs'],
    ['git push *', 'has to name every word'],
    ['git commit -m *', 'has to name every word'],
    ['git toString *', 'has to name every word'],
    ['git log --ext-diff *', 'only read'],
    ['git grep -Oid *', 'only read'],
    ["git grep '-1Otouch x;' a", 'has git run a program'],
    ['gh pr *', 'has to name every word'],
    ['LS *', 'has to name every word'],
    ['git log --ext-diff', 'has git run a program'],
    ['git fetch --upload-pack=x', 'has git run a program'],
    ['git fetch ext::sh', 'a program as a remote'],
    ['git diff /etc/hosts', 'outside the project'],
    ['git diff ../other/a', 'outside the project'],
    ['git status; id', 'not one simple command'],
    ['git status *; id', 'not one simple command'],
    ['git * status', 'not one simple command'],
    ['*', 'not one simple command'],
    [' *', 'not one simple command'],
    ['', 'not one simple command'],
    ['./tool', 'not one simple command'],
    ['/usr/bin/docker ps', 'not one simple command'],
  ])('%j is refused: %s', (entry, why) => {
    expect(entryProblem(entry)).toContain(why);
    expect(matchingEntry(entry, [entry])).toBeUndefined();
  });
});

describe('a command', () => {
  const entries = [
    'git status',
    'git log *',
    'git diff *',
    'git grep *',
    'git push',
    'git fetch',
    'gh pr view 12',
    'ls *',
  ];

  it.each([
    ['git status', 'git status'],
    ['git log', 'git log *'],
    ['git log --oneline -n5 main', 'git log *'],
    ['gh pr view 12', 'gh pr view 12'],
    ['git log -p -U3 -3', 'git log *'],
    ['git log --author x --format=%h', 'git log *'],
    ['git diff -SsecretOfO', 'git diff *'],
    ['git grep -in -e hello -C5', 'git grep *'],
    ['ls -la src', 'ls *'],
    ['git diff main..next', 'git diff *'],
    ['git diff main...origin/next src/a.ts', 'git diff *'],
    ['git log --since=2026/01/01', 'git log *'],
  ])('%j matches %j', (command, entry) => {
    expect(matchingEntry(command, entries)).toBe(entry);
  });

  it.each([
    'git status -s',
    'git statusx',
    'git  status',
    'git status; rm -rf x',
    'git log | sh',
    'git log > x',
    'git log $(id)',
    'git log `id`',
    'git log\nid',
    'git log & id',
    'git log --ext-diff',
    'git log --ext',
    'git log --output=../x',
    'git log --outp=../x',
    'git log -O x',
    `git grep '-1Otouch x;' hello`,
    `git grep '-nOtouch x;' hello`,
    'git grep -O hello',
    'git grep -f a hello',
    'git grep -ef a',
    'git grep --open hello',
    'git log --format=%G?',
    `git log '--pretty=%<(20)%GS'`,
    'git log --show-signature',
    'git log --remerge-diff',
    'git log --oneline=x',
    'git log -p -- -O',
    'git diff --no-index a b',
    'ls /',
    'ls ../..',
    'ls --hide=/etc',
    'ls -I/x',
    'git log --textconv',
    'git diff /etc/passwd README.md',
    'git diff README.md ../../secret',
    'git diff a ..',
    'git diff a/../../b',
    'git diff -- /etc/passwd a',
    'git log --grep=/x',
    'git -c core.pager=id log',
    'git -p log',
    'git fetch ext::id',
    `git fetch 'ext::sh -c id'`,
    'git fetch --upload-pack=id origin',
    'git fetch --up=id origin',
    'git push --receive-pack=id',
    'git push --exec=id',
    'git push --e=id',
    'git push -o x',
    'gh pr list',
    'env git status',
    'GIT_PAGER=id git log',
    './git status',
  ])('%j matches no entry', (command) => {
    expect(matchingEntry(command, entries)).toBeUndefined();
  });

  it('matches no entry of an empty list', () => {
    expect(matchingEntry('git status', [])).toBeUndefined();
  });
});
