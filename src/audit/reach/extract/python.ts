import { parentPath } from '../../../core/text/path.ts';
import { type Name, named, placed, stringsOf, wordsOf } from '../names.ts';
import { namesOfStarted } from './commands.ts';

/** Programs of Python that a tool runs by their name, and that import others; tests and applications are left out. */
export const PYTHON_PROGRAMS: RegExp =
  /(^|\/)(setup|noxfile|toxfile|dodo|fabfile|pavement|hatch_build|_?build)\.py$|(^|\/)tasks\/__init__\.py$|(^|\/)(SConstruct|wscript)$/i;
const RUN =
  /\b(?:python[\d.]*|py|pypy3?|uv run|poetry run python|coverage run)\s+(?:-[A-Zbdhiqsuvx]\S*\s+)*-m\s+([A-Za-z_][\w.]*)/g;
const PYTEST_PLUGIN = /(?:^|[\s"'=[,])-p[\s=]*(?:["'],?\s*["']?|,\s*["']?)?(?!no:)([A-Za-z_][\w.]*)/gm;
const PYTEST_FILE = /(^|\/)(\.?pytest\.(ini|toml)|setup\.cfg|tox\.(ini|toml)|pyproject\.toml)$/i;
const PYTEST_PLUGINS = /\bpytest_plugins\s*(?::[^=\n]{1,60})?=\s*([^\n]{0,20}(?:[^)\]\n]|\n){0,2000})/g;
const PLUGIN_NAME = /["']([A-Za-z_][\w.]{0,200})["']/g;
const FROM = /^[ \t]*from[ \t]+(\.{0,8})(?:([A-Za-z_][\w.]{0,200})[ \t]+|(?<=\.)[ \t]+)import[ \t]+([^\n]{1,300})/gm;
const IMPORT = /^[ \t]*import[ \t]+([A-Za-z_][\w., \t]{0,2000})/gm;
/** Lines that load code from a file, start a program, or add a folder of modules. */
const LOADED =
  /\b(?:exec|eval|compile|run_path|execfile|spec_from_file_location|load_source|SourceFileLoader)\s?\(([^\n]{1,300})/g;
const STARTED =
  /(?:\bsubprocess\.\w{1,20}|\bos\.(?:system|popen|exec\w{1,3}|spawn\w{1,3})|\bsession\.run|\bPopen|\bcheck_(?:call|output)|\b(?:c|ctx|conn)\.run)\s?\(([^\n]{1,300})/g;
const MODULE_FOLDER = /\bsys\.path\.(?:insert|append|extend)\s?\(([^\n]{1,300})/g;
const GLOBBED = /\b(?:i?glob|rglob|listdir|scandir)\s?\(([^\n]{1,200})/g;
const LOADS = /\b(?:exec|run_path|import_module|spec_from_file_location|__import__|subprocess)\b/;

/** The modules of the project that Python runs or imports on behalf of a file that is not a program of it. */
export function modulesOfCommands(path: string, shown: string, text: string): string[] {
  const isConftest = /(^|\/)conftest\.py$/i.test(path);
  return [
    ...wordsOf(RUN, shown),
    // A list has one option on each line.
    ...(PYTEST_FILE.test(path) ? wordsOf(PYTEST_PLUGIN, shown.replace(/"\]\n\w{1,60} = \["/g, ' ')) : []),
    ...(isConftest ? wordsOf(PYTEST_PLUGINS, text).flatMap((list) => wordsOf(PLUGIN_NAME, list)) : []),
  ].filter((name) => name !== '');
}

/** The modules, files and folders that a program of Python imports, loads or starts. */
export function namesOfPython(path: string, text: string): Name[] {
  const dir = parentPath(path);
  const imports = [...importsOf(text)].flatMap(([ups, name]) => {
    // A script finds modules next to it, and those of the folder in which it is started.
    const from = ups === 0 ? [dir, ''] : [placed(dir, '../'.repeat(ups - 1))];
    return from.flatMap((one) => (one === undefined ? [] : (placed(one, name.replaceAll('.', '/')) ?? [])));
  });
  const isFile = (word: string): boolean => /[./]/.test(word) && !/^https?:|\s/.test(word);
  const loaded = wordsOf(LOADED, text)
    .flatMap((list) => [...stringsOf(list), stringsOf(list).join('/')])
    .filter(isFile);
  const folders = wordsOf(MODULE_FOLDER, text).flatMap((list) => stringsOf(list).join('/'));
  const globs = LOADS.test(text) ? wordsOf(GLOBBED, text).map((list) => stringsOf(list).join('/')) : [];
  const started = wordsOf(STARTED, text).map((list) => stringsOf(list).join(' '));
  const from = ['', dir];
  return [
    ...named('module', imports),
    ...named('file', loaded, from),
    ...named(
      'folder',
      [...folders, ...globs.filter((word) => !word.includes('*'))].filter((word) => !/^\.{0,2}$/.test(word)),
      from,
    ),
    ...named(
      'glob',
      globs.filter((word) => word.includes('*')),
      from,
    ),
    ...namesOfStarted(started, dir, STARTED_FILE),
  ];
}

const STARTED_FILE = /\.(sh|bash|py|pl|rb|[cm]?js)$/i;

/** How many dots precede a module's name, and the name. */
function* importsOf(text: string): Generator<readonly [ups: number, name: string]> {
  const first = (word: string): string =>
    word
      .trim()
      .replace(/^\(\s*/, '')
      .split(/[\s)#]/)[0] ?? '';
  for (const [, dots = '', from = '', names = ''] of text.matchAll(FROM)) {
    for (let at = from.indexOf('.'); at >= 0; at = from.indexOf('.', at + 1)) yield [dots.length, from.slice(0, at)];
    if (from !== '') yield [dots.length, from];
    for (const name of names.split(',')) {
      const word = first(name);
      if (/^\w+$/.test(word)) yield [dots.length, from === '' ? word : `${from}.${word}`];
    }
  }
  for (const [, list = ''] of text.matchAll(IMPORT))
    for (const name of list.split(',')) if (first(name) !== '') yield [0, first(name)];
}
