import type { GeneralRule } from './rule.ts';

const READING = 'reading or reviewing the file';
const ANY_COMMAND = 'any command given the name, checkout elsewhere';

/** Rules on the names of new entries. */
export const NAME_RULES = {
  'name-control': {
    severity: 'blocked',
    title: 'Name with control characters',
    why: 'It breaks lists of names and sends control characters to the terminal.',
    matches: 'new names',
    trigger: ANY_COMMAND,
    source: 'POSIX 2024',
  },
  'name-dotgit': {
    severity: 'blocked',
    title: 'Name that equals .git on other systems',
    why: 'Git on macOS or Windows takes it for its own directory.',
    matches: 'letter case, ignored characters, short names',
    trigger: 'checkout on macOS or Windows',
    source: 'CVE-2014-9390, CVE-2019-1352',
  },
  'name-collides': {
    severity: 'blocked',
    title: 'Name that collides on other systems',
    why: 'On macOS or Windows one of the two files overwrites the other.',
    matches: 'names equal without case or in another normal form; device names of Windows',
    trigger: 'checkout on macOS or Windows',
    source: 'CVE-2021-21300',
    cases: {
      reserved: {
        title: 'Name that Windows reserves',
        why: 'On Windows it is a device, or cannot be made or deleted.',
      },
    },
  },
  'name-backslash': {
    severity: 'blocked',
    title: 'Name with a backslash',
    why: 'On Windows it is a path, which may lead anywhere.',
    matches: 'new names',
    trigger: 'checkout on Windows',
    source: 'CVE-2019-1354',
  },
  'name-not-utf8': {
    severity: 'suspect',
    title: 'Name that is not UTF-8',
    why: 'Tools show it in different ways or fail on it.',
    matches: 'new names',
    trigger: ANY_COMMAND,
    source: 'POSIX 2024',
  },
  'name-misleads': {
    severity: 'suspect',
    title: 'Name that is shown as another name',
    why: 'Invisible or direction-changing characters hide the real name.',
    matches: 'invisible, direction-changing or blank characters',
    trigger: READING,
    source: 'Unicode UTS 39',
    cases: {
      lookalike: { title: 'Name with look-alike letters', why: 'A reader takes it for another name.' },
      blank: {
        title: 'Name that looks empty or like a parent folder',
        why: 'Lists of files show nothing, or another name.',
      },
    },
  },
  'name-looks-alike': {
    severity: 'suspect',
    title: 'Name that looks like another',
    why: 'A reader takes it for the file of that name.',
    matches: 'letters of another script, beside a file whose name looks the same',
    trigger: READING,
    source: 'Unicode UTS 39',
  },
  'name-ends-odd': {
    severity: 'suspect',
    title: 'Name that ends in a blank or dot',
    why: 'Windows drops the end, so the name becomes another one.',
    matches: 'new names',
    trigger: 'checkout on Windows',
    source: 'Microsoft, Naming Files',
  },
  'name-option': {
    severity: 'suspect',
    title: 'Name that reads as an option',
    why: 'A command given * takes it for one of its options.',
    matches: 'names that begin with `-`, `+` or `@`',
    trigger: 'a command given *',
    source: 'DefenseCode, wildcard injection',
  },
  'name-shell': {
    severity: 'suspect',
    title: 'Name with shell syntax',
    why: 'A script that does not quote the name runs it.',
    matches: '`$(`, backticks, `;`, `&`, `|`, `<`, `>`, `$NAME` and `%s` in new names',
    trigger: 'a script that does not quote, or a perl -n over *',
    source: 'bash(1); perlopentut',
    cases: {
      opened: {
        title: 'Name that is opened as a command',
        why: 'perl -n and 2-argument open run it or write to a file.',
      },
      format: {
        title: 'Name with a format directive',
        why: 'A program that formats the name reads other memory or fields.',
      },
      variable: {
        title: 'Name of a shell variable',
        why: 'A script that does not quote the name uses the value instead.',
      },
    },
  },
  'name-whiteout': {
    severity: 'suspect',
    title: 'Name that deletes another file',
    why: 'In a layer of an image it deletes or hides the file of that name; file systems remove such files by themselves.',
    matches: '`.wh.*`, `.fuse_hidden*`, `.nfs*`',
    trigger: 'docker build, mounting a layer',
    source: 'OCI image layer specification',
  },
  'run-subcommand': {
    severity: 'suspect',
    title: 'Program with the name of a subcommand',
    why: 'The command runs the program that is called after it and the subcommand.',
    matches: 'new programs called `git-*`, `gh-*`, `cargo-*`, `kubectl-*`, `docker-*`, `npm-*` and others',
    trigger: 'typing that subcommand where the folder is on the PATH',
    source: 'git(1); cargo and kubectl documentation, plugins',
  },
  'name-shadows': {
    severity: 'suspect',
    title: 'File that is loaded instead of another',
    why: 'An import or command that meant the other file takes this one.',
    matches:
      'a second module for one import, a module with the name of a dependency, a workspace package or an alias of tsconfig.json with the name of a dependency, a file with the name of a make target',
    trigger: 'the next import, install or make',
    source: 'documentation of Python, Node, Perl, Lua and make',
    cases: {
      dependency: {
        title: 'Module with the name of a dependency',
        why: 'An import of the dependency takes this file, where this folder is searched first.',
      },
      workspace: {
        title: 'Package with the name of a dependency',
        why: 'The package manager links it instead of fetching the dependency.',
      },
      alias: {
        title: 'Alias with the name of a dependency',
        why: 'An import of the dependency takes a file of the project, in builds, tests and servers.',
      },
      target: {
        title: 'File with the name of a make target',
        why: 'make takes the target for done and skips its commands, or uses the file as its result.',
      },
    },
  },
  'name-litter': {
    severity: 'suspect',
    title: 'Left-over file of an editor or tool',
    why: 'Recovering or sourcing it restores other content than the file shows.',
    matches: 'swap, backup and reject files',
    trigger: 'recovering or sourcing it',
    source: 'vim recover.txt',
    cases: {
      'core-dump': { title: 'Core dump', why: 'It may hold everything that a crashed program had in memory.' },
    },
  },
  'name-windows-characters': {
    severity: 'note',
    title: 'Name that Windows does not allow',
    why: 'It cannot be checked out on Windows.',
    matches: '`<>:"|?*`',
    trigger: 'checkout on Windows',
    source: 'Microsoft, Naming Files',
  },
  'name-short-form': {
    severity: 'note',
    title: 'Name like a short name of Windows',
    why: 'On Windows it may be the second name of another file.',
    matches: '`PROGRA~1`; suspect for a file of git',
    trigger: 'checkout on Windows',
    source: 'CVE-2019-1352',
    cases: {
      git: {
        severity: 'suspect',
        title: 'Short name of a file that git reads',
        why: 'On Windows it is .gitmodules, .gitattributes, .gitignore or .mailmap.',
      },
    },
  },
  'name-too-long': {
    severity: 'blocked',
    title: 'Path too long for this system',
    why: 'run-claude could no longer copy the project, and most programs could not name the file.',
    matches: 'paths that are longer than PATH_MAX together with the directory of the project or of its private copy',
    trigger: ANY_COMMAND,
    source: 'PATH_MAX',
  },
  'name-long': {
    severity: 'note',
    title: 'Very long name or path',
    why: 'Some systems cannot hold it.',
    matches: 'over 200 characters, 1,024 in all, 60 levels',
    trigger: 'checkout, backup',
    source: 'PATH_MAX',
  },
} as const satisfies Readonly<Record<string, GeneralRule>>;
