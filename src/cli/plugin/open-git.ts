import { ownValue } from '../../core/text/own-value.ts';

/*
 * The options below come from git's own tables (`git COMMAND -h`, `git COMMAND --git-completion-helper-all`, and
 * `git help log` for those of history and of diffs). An option is listed where it runs no program, reads no file that it
 * names, and writes nothing. `--name=` takes a value, in the same word or in the next one. `--name[=]` may have one.
 */

const DIFF =
  '--patch --no-patch --unified= --function-context --raw --patch-with-raw --patch-with-stat --numstat --shortstat ' +
  '--dirstat[=] --cumulative --check --summary --name-only --name-status --stat[=] --stat-width= --stat-count= ' +
  '--compact-summary --full-index --color[=] --no-color --abbrev[=] --no-abbrev --no-prefix --inter-hunk-context= ' +
  '--break-rewrites[=] --find-renames[=] --find-copies[=] --find-copies-harder --no-renames --minimal ' +
  '--ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-cr-at-eol --ignore-blank-lines --patience ' +
  '--histogram --diff-algorithm= --word-diff[=] --color-words --color-moved[=] --relative --text --exit-code --quiet ' +
  '--pickaxe-all --pickaxe-regex --diff-filter= --no-ext-diff --no-textconv';

const COMMITS =
  '--all --branches[=] --tags[=] --remotes[=] --not --max-count= --skip= --since= --after= --until= --before= --author= ' +
  '--committer= --grep= --all-match --invert-grep --regexp-ignore-case --extended-regexp --fixed-strings --merges ' +
  '--no-merges --first-parent --reverse --date-order --author-date-order --topo-order --full-history --simplify-merges ' +
  '--left-right --left-only --right-only --cherry-pick --cherry-mark --boundary --no-walk --parents --children';

const SHOWN =
  '--oneline --graph --decorate[=] --no-decorate --abbrev-commit --no-abbrev-commit --date= --format= --relative-date ' +
  '--pretty[=] --source --no-mailmap --follow --cc';

/** What may follow a subcommand of git in a command of an entry that ends in `*`. */
interface OpenOptions {
  readonly long: string;
  /** Letters without a value. They may be bundled. */
  readonly flags: string;
  /** Letters with a number behind them, or with a value in the next word. */
  readonly numbers?: string;
  /** Letters with any text behind them. They are not bundled. */
  readonly texts?: string;
}

/** Subcommands of git that run no program and write nothing with these options. */
export const OPEN_GIT: Readonly<Record<string, OpenOptions>> = {
  blame: {
    long: '--root --show-name --show-number --porcelain --line-porcelain --show-email --minimal --abbrev[=] --ignore-rev=',
    flags: 'bcefklnpstw',
    numbers: 'CM',
    texts: 'L',
  },
  describe: {
    long: '--all --tags --long --first-parent --abbrev[=] --exact-match --candidates= --match= --exclude= --always',
    flags: '',
  },
  diff: { long: `${DIFF} --cached --staged --merge-base`, flags: 'apqRswzWb', numbers: 'UMCB', texts: 'SG' },
  grep: {
    long:
      '--cached --invert-match --ignore-case --word-regexp --text --recursive --max-depth= --extended-regexp --basic-regexp ' +
      '--fixed-strings --perl-regexp --line-number --column --full-name --files-with-matches --name-only ' +
      '--files-without-match --null --only-matching --count --color[=] --no-color --break --heading --context= ' +
      '--before-context= --after-context= --show-function --function-context --and --or --not --quiet --all-match ' +
      '--max-count=',
    flags: 'viwaIrEGFPnhHlLzocpWq',
    numbers: 'CBAme',
  },
  log: { long: `${DIFF} ${COMMITS} ${SHOWN}`, flags: 'apRswzWbcmiEFPg', numbers: 'nUMCB', texts: 'SGL' },
  'ls-files': {
    long:
      '--cached --deleted --modified --others --ignored --stage --killed --directory --eol --unmerged --full-name ' +
      '--exclude= --exclude-standard --error-unmatch --with-tree= --abbrev[=] --deduplicate',
    flags: 'ztvcdmoisku',
  },
  'ls-tree': {
    long: '--long --name-only --name-status --object-only --full-name --full-tree --abbrev[=]',
    flags: 'drtzl',
  },
  'merge-base': { long: '--all --octopus --independent --is-ancestor --fork-point', flags: 'a' },
  'rev-list': {
    long: `${COMMITS} --count --abbrev-commit --oneline --date= --format= --pretty[=]`,
    flags: 'iEFP',
    numbers: 'n',
  },
  'rev-parse': {
    long:
      '--verify --quiet --short[=] --abbrev-ref --symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup ' +
      '--is-inside-work-tree --is-bare-repository --is-shallow-repository --all --branches --tags --remotes',
    flags: 'q',
  },
  shortlog: { long: `${COMMITS} --committer --numbered --summary --email --group=`, flags: 'cnse' },
  show: { long: `${DIFF} ${SHOWN}`, flags: 'apRswzWbcm', numbers: 'UMCB', texts: 'SG' },
  'show-ref': { long: '--tags --heads --verify --head --dereference --hash[=] --abbrev[=] --quiet', flags: 'dsq' },
  status: {
    long:
      '--verbose --short --branch --show-stash --ahead-behind --no-ahead-behind --porcelain[=] --long --null ' +
      '--untracked-files[=] --ignored[=] --ignore-submodules[=] --column[=] --no-column --no-renames --find-renames[=]',
    flags: 'vsbz',
    numbers: 'M',
    texts: 'u',
  },
};

/**
 * Why git may not be called with these words by an entry that ends in `*`. Each word is judged by itself, so that no
 * reading of its neighbors matters: it is a listed option, or it does not start with `-`.
 */
export function openGitProblem([subcommand = '', ...words]: readonly string[]): string | undefined {
  const options = ownValue(OPEN_GIT, subcommand);
  if (options === undefined)
    return `git ${subcommand} may run a program or write files, so the entry has to name every word, without a * at its end`;
  const option = words.find((word) => isOption(word) && !isListed(word, options));
  if (option !== undefined) return `${option} is not in the list of options that only read`;
  const outside = words.find(isOutside);
  if (outside !== undefined) return `${outside} may be a file outside the project`;
  const format = words.find((word) => STARTS_PROGRAM.test(word));
  return format === undefined ? undefined : `${format} has git run a program`;
}

/** Formats of a commit whose fields are computed by another program: `%G?` by gpg, `%(describe)` by git. */
const STARTS_PROGRAM = /%.*(?:G|\(describe)/;

/** `-` is standard input, and `--` ends the options. */
const isOption = (word: string): boolean => word.startsWith('-') && word !== '-' && word !== '--';

function isListed(word: string, { long, flags, numbers = '', texts = '' }: OpenOptions): boolean {
  if (word.startsWith('--')) return isLongListed(word, long.split(' '));
  if (texts.includes(word.charAt(1))) return true;
  const [, letters = ''] = /^-([A-Za-z]*)\d*%?$/.exec(word) ?? [];
  if (letters === '') return /^-\d+$/.test(word);
  const bundled = letters.slice(0, -1);
  return [...bundled].every((letter) => flags.includes(letter)) && (flags + numbers).includes(letters.slice(-1));
}

/** git reads a unique beginning of a long option as that option: here the name is whole. */
function isLongListed(word: string, listed: readonly string[]): boolean {
  const at = word.indexOf('=');
  const name = at === -1 ? word : word.slice(0, at);
  return listed.some((option) => {
    const takesValue = option.endsWith('=') || option.endsWith('[=]');
    return option.replace(/\[?=\]?$/, '') === name && (at === -1 || takesValue);
  });
}

/** Whether a word, or the value of an option, may name a file outside the project. A range such as `a..b` is not a path. */
export function isOutside(word: string): boolean {
  const value = word.startsWith('-') ? word.slice(word.indexOf('=') + 1) : word;
  return value.startsWith('/') || value.startsWith('~') || value.split('/').includes('..');
}
