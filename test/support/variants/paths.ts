import { parseJson } from './json.ts';
import { type Mutator, nameOf } from './mutator.ts';

const inGit = (path: string): boolean => /(^|\/)\.git(\/|$)/i.test(path);

/** Names that mean the same file on a host that compares less strictly. */
const host = (name: string, rewrite: (path: string) => string): Mutator => ({
  name: `name ${name}`,
  path(path) {
    const other = rewrite(path);
    return other === path ? undefined : other;
  },
});

const replaceName = (path: string, rewrite: (name: string) => string): string =>
  path.slice(0, path.length - nameOf(path).length) + rewrite(nameOf(path));

/** Tools that look for their settings under several names and formats. */
const SEVERAL =
  /^\.(eslintrc|prettierrc|stylelintrc|lintstagedrc|babelrc|nycrc|mocharc|c8rc|postcssrc|releaserc|commitlintrc|markdownlint)(\.json)?$/;

export const PATH_MUTATORS: readonly Mutator[] = [
  host('in capitals', (path) => (inGit(path) ? path : path.toUpperCase())),
  host('with one capital', (path) =>
    inGit(path) ? path : replaceName(path, (name) => name.replace(/[a-z]/, (letter) => letter.toUpperCase())),
  ),
  host('with a long s', (path) => (inGit(path) ? path : path.replace(/s(?=[^/]*$)/, '\u017f'))),
  host('with a Kelvin sign', (path) => (inGit(path) ? path : path.replace(/k(?=[^/]*$)/, '\u212a'))),
  host('with a character that a file system ignores', (path) =>
    inGit(path) ? path : replaceName(path, (name) => `${name.slice(0, 2)}\u200c${name.slice(2)}`),
  ),
  host('with a blank at the end', (path) => (inGit(path) ? path : `${path} `)),
  host('with a dot at the end', (path) => (inGit(path) ? path : `${path}.`)),
  host('with a stream', (path) => (inGit(path) ? path : `${path}::$DATA`)),
  host('in a folder of the project', (path) => (inGit(path) ? path : `packages/app/${path}`)),
  {
    name: 'name of another format',
    text: (text) => (parseJson(text) === undefined ? undefined : text),
    path: (path) =>
      SEVERAL.test(nameOf(path)) ? replaceName(path, (name) => `${name.replace(/\.json$/, '')}.yaml`) : undefined,
  },
];
