import { simpleWords } from './simple-command.ts';

/** What a last word `*` of an entry stands for: any more words. */
const ANY = '*';

/** Programs that run another one, or that give the host away. An entry for them would let every command through. */
const REFUSED_PROGRAMS: Readonly<Record<string, string>> = {
  ...namesOf(
    'starts containers on your machine',
    'docker podman nerdctl docker-compose podman-compose buildah ctr lxc',
  ),
  ...namesOf('runs commands as another user', 'sudo doas su runuser pkexec run0 setpriv gosu please'),
  ...namesOf(
    'runs any other command',
    'sh bash dash zsh fish ksh csh tcsh busybox env xargs parallel eval exec command builtin source time timeout ' +
      'nohup nice ionice setsid stdbuf unbuffer script expect watch flock chroot unshare nsenter systemd-run at batch ' +
      'crontab ssh tmux screen find awk gawk mawk sed ed vi vim ex nano emacs less more man gdb strace ltrace osascript ' +
      'launchctl open xdg-open pwsh',
  ),
  ...namesOf(
    'runs code that a word of the command holds',
    'python python2 python3 pypy pypy3 node nodejs deno bun perl ruby php lua tclsh',
  ),
  ...namesOf('is itself a way out of the copy', 'run-claude claude'),
};

/** Subcommands of git that run other programs, or set what a later git runs. */
const GIT_COMMANDS: ReadonlySet<string> = new Set(
  (
    'bisect config credential credential-cache credential-store cvsserver daemon difftool fast-import filter-branch gui ' +
    'citool help hook imap-send instaweb maintenance mergetool p4 rebase remote-ext remote-fd send-email shell submodule svn ' +
    'web--browse worktree clone init archimport cvsimport cvsexportcommit request-pull scalar update-server-info var ' +
    'upload-pack receive-pack upload-archive lfs'
  ).split(' '),
);

/** Long options of git that run a program, name a repository or a file of another place, or write a file. */
const GIT_OPTIONS: readonly string[] = (
  '--config --config-env --exec --exec-path --ext-diff --textconv --upload-pack --receive-pack --upload-archive ' +
  '--open-files-in-pager --git-dir --work-tree --namespace --super-prefix --paginate --output --output-directory ' +
  '--template --no-index --contents --file --pathspec-from-file --editor --edit --strategy --strategy-option --gpg-sign ' +
  '--local-user --reference --separate-git-dir --recurse-submodules --attr-source --exclude-from --from-file --remote ' +
  '--interactive --patch --tool --extcmd --run --filter --filters --server-option --trailer --reedit-message'
).split(' ');

/** Options of one letter, with and without a value behind them. `-C` and `-c` change where git works and what it runs. */
const GIT_LETTERS = /^-[A-Za-z]*[cCxuOSsFotpieX]/;

/**
 * Why an entry of the passthrough list is refused; undefined where it is accepted. An entry is one simple command; with a
 * last word `*`, any more words may follow.
 */
export function entryProblem(entry: string): string | undefined {
  const words = wordsOf(entry);
  if (words === undefined) return 'it is not one simple command';
  const [program = '', ...rest] = words.fixed;
  const why = REFUSED_PROGRAMS[baseName(program)];
  if (why !== undefined) return `${program} ${why}`;
  if (program !== 'git') return undefined;
  if (rest.length === 0) return 'it names no subcommand of git';
  return gitProblem(rest);
}

/** The entry that a command matches, as one simple command; undefined where there is none. */
export function matchingEntry(command: string, entries: readonly string[]): string | undefined {
  const words = simpleWords(command);
  if (words === undefined) return undefined;
  return entries.find((entry) => entryProblem(entry) === undefined && matches(words, entry));
}

function matches(words: readonly string[], entry: string): boolean {
  const { fixed, isOpen } = wordsOf(entry) ?? { fixed: [], isOpen: false };
  if (fixed.length === 0 || !fixed.every((word, at) => words[at] === word)) return false;
  if (words.length !== fixed.length && !isOpen) return false;
  return words[0] !== 'git' || gitProblem(words.slice(1)) === undefined;
}

function wordsOf(entry: string): { readonly fixed: readonly string[]; readonly isOpen: boolean } | undefined {
  const isOpen = entry.endsWith(` ${ANY}`);
  const fixed = simpleWords(isOpen ? entry.slice(0, -2) : entry);
  return fixed === undefined ? undefined : { fixed, isOpen };
}

/** git reads a unique beginning of a long option as that option. */
function gitProblem([subcommand = '', ...rest]: readonly string[]): string | undefined {
  if (!/^[a-z][a-z-]*$/.test(subcommand)) return 'an option before the subcommand of git changes what git runs';
  if (GIT_COMMANDS.has(subcommand)) return `git ${subcommand} runs other programs`;
  const option = rest.find(isRefusedOption);
  if (option !== undefined) return `${option} has git run a program, or use files of another place`;
  // Out of a work tree, `git diff` compares any two files, as with --no-index.
  const outside = rest.find(isOutside);
  if (outside !== undefined) return `${outside} may be a file outside the project`;
  // `ext::COMMAND` is a remote that runs a command.
  const remote = rest.find((word) => word.includes('::'));
  return remote === undefined ? undefined : `${remote} may name a program as a remote`;
}

/** A range such as `a..b` is not a path. */
function isOutside(word: string): boolean {
  const value = word.startsWith('-') ? word.slice(word.indexOf('=') + 1) : word;
  return value.startsWith('/') || value.startsWith('~') || value.split('/').includes('..');
}

function isRefusedOption(word: string): boolean {
  if (!word.startsWith('-') || word === '-' || word === '--') return false;
  if (!word.startsWith('--')) return GIT_LETTERS.test(word);
  const name = word.split('=', 1)[0] ?? '';
  return GIT_OPTIONS.some((refused) => refused.startsWith(name));
}

/** `python3.12` is python. */
function baseName(program: string): string {
  return program
    .toLowerCase()
    .replace(/\.exe$/, '')
    .replace(/[\d.]+$/, '');
}

function namesOf(why: string, names: string): Record<string, string> {
  return Object.fromEntries(names.split(' ').map((name) => [baseName(name), why]));
}
