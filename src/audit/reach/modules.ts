import { parentPath } from '../../core/text/path.ts';
import { foldPath } from '../formats/glob.ts';
import { readStructure } from '../formats/structured.ts';

/** A path from a folder of the tree; undefined where it leaves the tree. */
export function placed(dir: string, word: string): string | undefined {
  const stack = dir === '' ? [] : dir.split('/');
  for (const part of word.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') stack.push(part);
    else if (stack.pop() === undefined) return undefined;
  }
  return stack.join('/');
}

/** Programs of Python that a tool runs by their name, and that import others; tests and applications are left out. */
export const PYTHON_PROGRAMS =
  /(^|\/)(setup|noxfile|toxfile|dodo|fabfile|pavement|hatch_build|_?build)\.py$|(^|\/)(SConstruct|wscript)$/i;
const PYTHON_RUN =
  /\b(?:python[\d.]*|py|pypy3?|uv run|poetry run python|coverage run)\s+(?:-[A-Zbdhiqsuvx]\S*\s+)*-m\s+([A-Za-z_][\w.]*)/g;
const PYTEST_PLUGIN = /(?:^|[\s"'=[,])-p[\s=]*["']?,?\s*["']?(?!no:)([A-Za-z_][\w.]*)/gm;
const PYTEST_FILE = /(^|\/)(\.?pytest\.(ini|toml)|setup\.cfg|tox\.(ini|toml)|pyproject\.toml)$/i;
const PYTEST_PLUGINS = /\bpytest_plugins\s*(?::[^=\n]{1,60})?=\s*([^\n]{0,20}(?:[^)\]\n]|\n){0,2000})/g;
const PYTHON_IMPORT =
  /^[ \t]*(?:from[ \t]+([A-Za-z_][\w.]{0,200})[ \t]+import[ \t]+([^\n]{1,300})|import[ \t]+([A-Za-z_][\w., \t]{0,2000}))/gm;

/** The modules of the project that Python runs or imports on behalf of a file. */
export function moduleNames(path: string, shown: string, text: string): string[] {
  return [...pythonNames(path, shown, text)].filter((name) => name !== '');
}

function* pythonNames(path: string, shown: string, text: string): Generator<string> {
  yield* wordsOf(PYTHON_RUN, shown);
  // A list has one option on each line.
  if (PYTEST_FILE.test(path)) yield* wordsOf(PYTEST_PLUGIN, shown.replace(/"\]\n\w{1,60} = \["/g, ' '));
  if (/(^|\/)conftest\.py$/i.test(path))
    for (const list of wordsOf(PYTEST_PLUGINS, text))
      for (const match of list.matchAll(/["']([A-Za-z_][\w.]{0,200})["']/g)) yield match[1] as string;
  if (PYTHON_PROGRAMS.test(path))
    for (const [, from, names = '', list = ''] of text.matchAll(PYTHON_IMPORT)) {
      if (from !== undefined) {
        for (let at = from.indexOf('.'); at >= 0; at = from.indexOf('.', at + 1)) yield from.slice(0, at);
        yield from;
        for (const name of names.split(',')) yield `${from}.${firstWord(name)}`;
      } else for (const name of list.split(',')) yield firstWord(name);
    }
}

const firstWord = (text: string): string => text.trim().split(/\s/)[0] ?? '';

/** The parts of a build script of Rust: other files of its module, and files that it includes. */
export function rustParts(path: string, text: string): string[] {
  const dir = parentPath(path);
  const beside = (word: string): string => placed(dir, word) ?? word;
  const named = [
    ...text.matchAll(/\binclude\s*!\s*[([{]\s*"([^"\n]{1,200})"/g),
    ...text.matchAll(/#\s*\[\s*path\s*=\s*"([^"\n]{1,200})"\s*\]/g),
  ].map((match) => beside(match[1] as string));
  const modules = [...text.matchAll(/^[ \t]*(?:pub(?:\([^)\n]{1,40}\))?[ \t]+)?mod[ \t]+(\w{1,100})[ \t]*;/gm)].map(
    (match) => beside(match[1] as string),
  );
  return [...named, ...modules, ...modules.map((one) => `${one}/mod`)];
}

/** The folders that Cargo compiles and runs: of a procedural macro, and of what a build script depends on. */
export function cargoTrees(dir: string, text: string, path: string): string[] {
  const leaves = readStructure(text, 'toml', path)?.leaves ?? [];
  const isMacro = leaves.some(
    ({ key, value }) =>
      (/^lib\.proc[-_]macro$/.test(key) && value === 'true') ||
      (/^lib\.crate[-_]type(\[\])?$/.test(key) && value === 'proc-macro'),
  );
  const built = leaves.filter(({ key }) => /(^|\.)build[-_]dependencies\.[^.]+\.path$/.test(key));
  const library = leaves.find(({ key }) => key === 'lib.path')?.value;
  const source = library === undefined ? 'src' : parentPath(library);
  return [
    ...(isMacro ? [source === '' ? dir : placed(dir, source)] : []),
    ...built.map(({ value }) => placed(dir, `${value}/src`)),
  ].flatMap((folder) => (folder === undefined || folder === '' ? [] : [foldPath(folder)]));
}

/** The first group of each match, without a full stop or colon at its end. */
export const wordsOf = (regex: RegExp, text: string): string[] =>
  [...text.matchAll(regex)].map((match) => (match[1] ?? '').replace(/(?<![./:])[./:]+$/, ''));
