import { parentPath } from '../../../core/text/path.ts';
import { type Name, type NameKind, named, placed, wordsOf } from '../names.ts';

/** What the first group of an expression names in build files of some kind. */
interface BuildName {
  readonly paths: RegExp;
  readonly words: RegExp;
  readonly kind: NameKind;
  /** A word as a path. Default: as it is. */
  readonly path?: (word: string) => string;
  /** Whether the path starts at the top of the tree only. */
  readonly isFromTop?: boolean;
}

const BUILD_NAMES: readonly BuildName[] = [
  // Builds that a build of Gradle includes: their plugins run in it.
  {
    paths: /(^|\/)settings\.gradle(\.kts)?$/i,
    words: /\bincludeBuild\s{0,4}[( ]\s{0,4}["']([\w./-]{1,200})["']/g,
    kind: 'tree',
  },
  // A project that is an analyzer or a source generator is loaded by the compiler.
  {
    paths: /\.(csproj|fsproj|vbproj|props|targets)$/i,
    words: /<ProjectReference\b[^>]{0,200}\bInclude="([^"]{1,200})"(?=[^>]{0,300}\bOutputItemType="Analyzer")/gi,
    kind: 'tree',
    path: (word) => parentPath(word.replaceAll('\\', '/')),
  },
  // Plugins and macros of a package of Swift.
  {
    paths: /(^|\/)package\.swift$/i,
    words: /\.(?:plugin|macro)\((?:[^()]|\([^()]{0,200}\)){0,400}?\bpath:\s{0,4}"([^"\n]{1,200})"/g,
    kind: 'tree',
  },
  {
    paths: /(^|\/)package\.swift$/i,
    words: /\.plugin\(\s{0,40}name:\s{0,4}"([\w-]{1,80})"/g,
    kind: 'tree',
    path: (word) => `Plugins/${word}`,
  },
  {
    paths: /(^|\/)package\.swift$/i,
    words: /\.macro\(\s{0,40}name:\s{0,4}"([\w-]{1,80})"/g,
    kind: 'tree',
    path: (word) => `Sources/${word}`,
  },
  // A generator is named by its own package.
  {
    paths: /(^|\/)build\.yaml$/i,
    words: /\bimport:\s{0,4}["']?package:\w{1,80}\/([\w./-]{1,200})/g,
    kind: 'file',
    path: (word) => `lib/${word}`,
  },
  // The program of a rule, under the name of what is compiled.
  { paths: /(^|\/)dune$/i, words: /([\w./-]{1,200})\.exe\b/g, kind: 'module' },
  { paths: /(^|\/)build\.(sc|mill)$/i, words: /\bimport \$file\.([\w.^]{1,200})/g, kind: 'module', path: dotted },
  { paths: /(^|\/)(makefile|build)\.pl$/i, words: /\buse lib\b[^;\n]{0,40}?["']([\w./-]{1,200})["']/g, kind: 'tree' },
  { paths: /(^|\/)(makefile|build)\.pl$/i, words: /\buse (inc(?:::\w{1,60}){1,6})/g, kind: 'file', path: perlModule },
  {
    paths: /(^|\/)(\.?flake8|setup\.cfg|tox\.ini)$/i,
    words: /^paths?\s{0,4}=\s{0,4}([\w./,-]{1,200})/gm,
    kind: 'folder',
  },
  {
    paths: /(^|\/)(\.?flake8|setup\.cfg|tox\.ini)$/i,
    words: /^\s{1,20}\w{1,20}\s{0,4}=\s{0,4}([\w.]{1,200}):\w{1,80}[ \t]{0,9}$/gm,
    kind: 'module',
    path: dotted,
  },
  { paths: /(^|\/)alembic\.ini$/i, words: /^script_location\s{0,4}=\s{0,4}([\w./-]{1,200})/gm, kind: 'tree' },
  {
    paths: /(^|\/)\.?mise\.toml$/i,
    words: /^\s{0,20}includes\s{0,4}=\s{0,4}\[\s{0,20}["']([\w./-]{1,200})/gm,
    kind: 'folder',
  },
  { paths: /(^|\/)(flake|shell|default|devenv)\.nix$/i, words: /(?<![\w./])(\.\/[\w./-]{1,200})/g, kind: 'module' },
  { paths: /(^|\/)(flake|shell|default|devenv)\.nix$/i, words: /\breadFile (\.\/[\w./-]{1,200})/g, kind: 'file' },
  { paths: /(^|\/)nextflow\.config$/i, words: /\bincludeConfig\s{1,4}["']([\w./-]{1,200})["']/g, kind: 'file' },
  {
    paths: /\.xcodeproj\/project\.pbxproj$/i,
    words: /\bshellScript = "[^\n]{0,2000}?(?:SRCROOT|PROJECT_DIR)[)}]?\/([\w./-]{1,200})/g,
    kind: 'file',
    isFromTop: true,
  },
  {
    paths: /(^|\/)phpstan[^/]*\.neon(\.dist)?$/i,
    words: /^\s{1,40}-\s{1,4}([\w./-]{1,200}\.(?:php|neon))[ \t]{0,9}$/gm,
    kind: 'file',
  },
];

function dotted(word: string): string {
  return word.replaceAll('.', '/').replace(/\^/g, '..');
}

function perlModule(word: string): string {
  return `${word.replaceAll('::', '/')}.pm`;
}

const COMPOSER = /(^|\/)composer\.json$/i;

/** Whether names are read from a file of this path. */
export const isBuildFile = (path: string): boolean =>
  BUILD_NAMES.some(({ paths }) => paths.test(path)) || COMPOSER.test(path);

/** What the build files of other languages name. */
export function namesOfBuildFile(path: string, text: string): Name[] {
  const dir = parentPath(path);
  return BUILD_NAMES.filter(({ paths }) => paths.test(path))
    .flatMap(({ words, kind, path: pathOf, isFromTop }) => {
      const found = wordsOf(words, text).map((word) => pathOf?.(word) ?? word);
      // A folder that is the file's own says nothing.
      const inside = found.filter((word) => kind === 'file' || kind === 'module' || placed('', word) !== '');
      return named(kind, inside, isFromTop === true ? ['', parentPath(dir)] : [dir, '']);
    })
    .concat(COMPOSER.test(path) ? named('file', classesOfComposer(text), [dir]) : []);
}

/** The files of the classes whose methods are scripts of Composer, by the folders of their namespaces. */
function classesOfComposer(text: string): string[] {
  const folders = [...text.matchAll(/"((?:\w{1,60}\\\\){1,6})"\s{0,9}:\s{0,9}"([\w./-]{1,200})"/g)];
  const classes = [...text.matchAll(/"((?:\w{1,60}\\\\){1,6}\w{1,60})::\w{1,60}"/g)].map((match) => match[1] as string);
  return classes.flatMap((one) =>
    folders
      .filter(([, prefix = '']) => one.startsWith(prefix))
      .map(([, prefix = '', folder]) => `${folder}/${one.slice(prefix.length).replaceAll('\\\\', '/')}.php`),
  );
}
