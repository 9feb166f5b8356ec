import { isOutside, openGitProblem } from './open-git.ts';
import { refusedProgram } from './refused-programs.ts';
import { simpleWords } from './simple-command.ts';

/** What a last word `*` of an entry stands for: any more words. */
const ANY = '*';

/** Programs that run nothing and write nothing, whatever words follow: an entry for them may end in `*`. */
const OPEN_PROGRAMS: ReadonlySet<string> = new Set('ls pwd id groups whoami uname nproc df du stat wc'.split(' '));

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
const GIT_LETTERS = /^-[^-]*[cCxuOSsFotpieX]/;

/**
 * Why an entry of the passthrough list is refused; undefined where it is accepted. An entry is one simple command of which
 * it names every word. With a last word `*` more words may follow, for programs that are known to run and write nothing.
 */
export function entryProblem(entry: string): string | undefined {
  const words = wordsOf(entry);
  if (words === undefined) return 'it is not one simple command';
  const { fixed, isOpen } = words;
  const [program = '', ...rest] = fixed;
  const why = refusedProgram(program);
  if (why !== undefined) return `${program} ${why}`;
  if (program === 'git' && rest.length === 0) return 'it names no subcommand of git';
  if (isOpen) return openProblem(fixed);
  return program === 'git' ? gitProblem(rest) : undefined;
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
  return isOpen ? openProblem(words) === undefined : words.length === fixed.length;
}

/** Why these words are not accepted from an entry that ends in `*`. */
function openProblem([program = '', ...rest]: readonly string[]): string | undefined {
  if (program === 'git') return openGitProblem(rest);
  if (!OPEN_PROGRAMS.has(program))
    return `${program} is not known to run and write nothing, so the entry has to name every word, without a * at its end`;
  const word = rest.find((text) => isOutside(text) || (text.startsWith('-') && !PLAIN_OPTION.test(text)));
  return word === undefined ? undefined : `${word} may be a file outside the project`;
}

/** Letters without a text behind them, or a long option. */
const PLAIN_OPTION = /^-[A-Za-z\d]*$|^--[a-z\d-]*(?:=.*)?$/;

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

function isRefusedOption(word: string): boolean {
  if (!word.startsWith('-') || word === '-' || word === '--') return false;
  if (!word.startsWith('--')) return GIT_LETTERS.test(word);
  const name = word.split('=', 1)[0] ?? '';
  return GIT_OPTIONS.some((refused) => refused.startsWith(name));
}
