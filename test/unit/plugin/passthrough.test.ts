import { describe, expect, it } from 'vitest';
import { entryProblem, matchingEntry } from '../../../src/plugin/passthrough.ts';

describe('an entry of the passthrough list', () => {
  it.each(['git status', 'git log *', 'git commit -m *', 'gh pr view', 'gh pr *', 'make -n', 'ls *', 'cargo fmt'])(
    '%j is accepted',
    (entry) => {
      expect(entryProblem(entry)).toBeUndefined();
    },
  );

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
    ['git config *', 'runs other programs'],
    ['git rebase *', 'runs other programs'],
    ['git submodule *', 'runs other programs'],
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
  const entries = ['git status', 'git log *', 'git diff *', 'git push *', 'git fetch *', 'gh pr view *'];

  it.each([
    ['git status', 'git status'],
    ['git log', 'git log *'],
    ['git log --oneline -n5 main', 'git log *'],
    [`gh pr view 'a b'`, 'gh pr view *'],
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
