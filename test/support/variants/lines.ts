import { eachLine, type Mutator, nameOf } from './mutator.ts';

const isGitConfig = (path: string): boolean =>
  /(^|\/)(\.git\/config(\.worktree)?|\.gitmodules|\.lfsconfig|\.gitconfig)$/.test(path);
/** Read by Python's configparser. */
const isPythonIni = (path: string): boolean =>
  /^(setup\.cfg|tox\.ini|pytest\.ini|\.flake8|mypy\.ini|\.mypy\.ini|\.coveragerc|\.pylintrc|pylintrc|\.bandit|pydocstyle\.ini|alembic\.ini|ansible\.cfg)$/.test(
    nameOf(path),
  );
const isDotenv = (path: string): boolean => /^\.env(\.[\w.-]+)?$|\.env$/.test(nameOf(path));
const isNpmrc = (path: string): boolean => nameOf(path) === '.npmrc';
const isMake = (path: string): boolean => /^(gnu)?makefile(\.[\w-]+)?$|\.mk$/.test(nameOf(path));
const isShell = (path: string): boolean =>
  /\.(sh|bash|zsh)$|^\.(bash|zsh)(rc|_profile|env)$|^\.profile$|^\.envrc$/.test(nameOf(path));

const lines = (name: string, isFor: (path: string) => boolean, rewrite: (line: string) => string): Mutator => ({
  name,
  text: (text, path) => (isFor(path) ? eachLine(text, rewrite) : undefined),
});
const whole = (name: string, isFor: (path: string) => boolean, rewrite: (text: string) => string): Mutator => ({
  name,
  text: (text, path) => (isFor(path) ? rewrite(text) : undefined),
});

const VALUE = /^(\s*[A-Za-z][\w.-]*)\s*=\s*(.*\S)\s*$/;

export const LINE_MUTATORS: readonly Mutator[] = [
  lines('git section in capitals', isGitConfig, (line) =>
    line.replace(
      /^(\s*\[)([\w.-]+)/,
      (_, open: string, name: string) => open + (name.includes('.') ? name : name.toUpperCase()),
    ),
  ),
  lines('git keys in capitals', isGitConfig, (line) =>
    line.replace(/^(\s*)([A-Za-z][\w-]*)(?=\s*=)/, (_, lead: string, key: string) => lead + key.toUpperCase()),
  ),
  whole('git key behind its section', isGitConfig, (text) => text.replace(/\]\s*\n\s*(?=[A-Za-z])/g, '] ')),
  lines('git values with quotes', isGitConfig, (line) =>
    line.replace(VALUE, (all, key: string, value: string) => (/["\\#;]/.test(value) ? all : `${key} = "${value}"`)),
  ),
  lines('git values with half quotes', isGitConfig, (line) =>
    line.replace(VALUE, (all, key: string, value: string) =>
      /["\\#;]/.test(value) ? all : `${key}="${value[0]}"${value.slice(1)}`,
    ),
  ),
  lines('git values that continue', isGitConfig, (line) =>
    line.replace(VALUE, (all, key: string, value: string) => (/["\\#;]/.test(value) ? all : `${key} = \\\n${value}`)),
  ),
  lines('git comments', isGitConfig, (line) =>
    line.replace(VALUE, (all) => (all.includes('"') ? all : `${all} ; x\n# ${all}`)),
  ),
  lines('git subsection with escapes', isGitConfig, (line) => line.replace(/^(\s*\[[\w-]+ ")([a-z])/, '$1\\$2')),
  lines('ini without blanks', isPythonIni, (line) => line.replace(VALUE, '$1=$2')),
  lines('ini with colons', isPythonIni, (line) => line.replace(VALUE, '$1 : $2')),
  lines('ini keys in capitals', isPythonIni, (line) =>
    line.replace(VALUE, (all, key: string, value: string) =>
      /^\s/.test(all) ? all : `${key.toUpperCase()} = ${value}`,
    ),
  ),
  lines('ini values on the next line', isPythonIni, (line) =>
    line.replace(VALUE, (all, key: string, value: string) => (/^\s/.test(all) ? all : `${key} =\n    ${value}`)),
  ),
  lines('dotenv with export', isDotenv, (line) => line.replace(/^(?=[A-Za-z_]\w*=)/, 'export ')),
  lines('dotenv with double quotes', isDotenv, (line) => line.replace(/^([A-Za-z_]\w*)=([^"'\s][^"'\n]*)$/, '$1="$2"')),
  lines('dotenv with single quotes', isDotenv, (line) => line.replace(/^([A-Za-z_]\w*)=([^"'\s][^"'\n]*)$/, "$1='$2'")),
  lines('dotenv with blanks', isDotenv, (line) => line.replace(/^([A-Za-z_]\w*)=/, '  $1 = ')),
  lines('npmrc with blanks', isNpmrc, (line) => line.replace(/^([^#;=\s][^=]*)=/, '  $1 = ')),
  lines('npmrc with quotes', isNpmrc, (line) => line.replace(/^([^#;=\s][^="]*)=([^"\s]+)$/, '"$1"="$2"')),
  lines('make with other assignments', isMake, (line) => line.replace(/^(\w+)\s*:?=\s*/, '$1 ::= ')),
  whole('make recipes behind their target', isMake, (text) => text.replace(/^([\w.-]+:[^\n=;]*)\n\t/gm, '$1 ; ')),
  whole(
    'commands over two lines',
    (path) => isMake(path) || isShell(path),
    (text) => text.replace(/(\w) (?=[\w./-]+$)/gm, '$1 \\\n '),
  ),
  {
    name: 'lines that end with CR and LF',
    // A name in a pickle ends with LF.
    text: (text) => (text.includes('\r') || /^c[\w.]+\n/.test(text) ? undefined : text.replaceAll('\n', '\r\n')),
  },
  { name: 'no end of the last line', text: (text) => (text.endsWith('\n') ? text.slice(0, -1) : undefined) },
  {
    name: 'a byte order mark',
    text: (text, path) =>
      /\.(json|ya?ml|xml|csproj|props|targets|config|cs|ps1)$/.test(path) ? `\ufeff${text}` : undefined,
  },
  {
    name: 'options joined to their values',
    text: (text) =>
      /(^|["'\s=])--[a-z][\w-]+ (?=[.\w/])/m.test(text)
        ? text.replace(/((?:^|["'\s=])--[a-z][\w-]+) (?=[.\w/])/gm, '$1=')
        : undefined,
  },
  {
    name: 'options apart from their values',
    text: (text) =>
      /(^|["'\s])--[a-z][\w-]+=(?=[.\w/])/m.test(text)
        ? text.replace(/((?:^|["'\s])--[a-z][\w-]+)=(?=[.\w/])/gm, '$1 ')
        : undefined,
  },
  {
    name: 'short options joined to their values',
    text: (text, path) =>
      /\.(ini|cfg|toml)$/.test(path) && /(^|["'\s=])-[pcW] (?=[.\w/])/m.test(text)
        ? text.replace(/((?:^|["'\s=])-[pcW]) (?=[.\w/])/gm, '$1')
        : undefined,
  },
];
