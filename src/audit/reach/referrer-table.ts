import { anyOf, oneOf, pattern } from '../formats/words.ts';
import { withoutFilesOfReaders, withoutStoredPaths } from './data-arguments.ts';
import { AGENT_DOCUMENT } from './documents.ts';
import { PYTHON_PROGRAMS } from './extract/python.ts';
import { SCRIPTS } from './program-endings.ts';

const PACKAGE_DATA = oneOf`
  name version description main module types typings exports imports files browser bin man directories unpkg
  jsdelivr react-native source svelte style jsnext:main umd:main module-sync sideEffects workspaces repository homepage bugs license author keywords
  (dev|peer|optional)?dependencies jest\.(collectCoverage|coverage|testMatch|testPath|roots|moduleFile)\w*
`;
const PYPROJECT_LISTS = oneOf`
  (force-|only-|extend-)?(include|exclude) omit sources? src files filename packages where testpaths
  per-file-ignores (py-)?modules package-data artifacts skip(_glob)? (extend-)?ignore known[-_]\w{1,40}
  version_file write_to classifiers keywords dependencies readme description
`;
const EDITOR_TASKS = oneOf`
  \.vscode\/(tasks|launch)\.json \.devcontainer(\/.*)?\/?devcontainer\.json
  \.idea\/runConfigurations\/[^/]+\.xml \.run\/[^/]+\.xml nodemon\.json \.mocharc\.(json|ya?ml) deno\.jsonc?
  \.lintstagedrc(\.\w+)?
`;
const CI_FILES = oneOf`
  \.gitlab-ci\.ya?ml azure-pipelines[^/]*\.ya?ml taskfile(\.dist)?\.ya?ml (docker-)?compose[^/]*\.ya?ml
  \.travis\.yml bitbucket-pipelines\.yml \.drone\.yml \.woodpecker\.ya?ml \.?appveyor\.yml cloudbuild\.ya?ml
  buildspec\.ya?ml skaffold\.ya?ml playbook[^/]*\.ya?ml site\.ya?ml
`;
const BUILD_FILES = oneOf`
  makefile gnumakefile [^/]*\.mk \.envrc \.?justfile \.pre-commit-config\.yaml jenkinsfile
  procfile[^/]* vagrantfile tiltfile dockerfile[^/]* containerfile build build\.bazel tox\.ini mypy\.ini
  setup\.cfg pytest\.ini \.?mise\.toml \.cargo\/config(\.toml)? pom\.xml
  phpunit\.xml(\.dist)? build\.gradle(\.kts)? cmakelists\.txt meson\.build xmake\.lua configure\.(ac|in) mix\.exs [^/]*\.tf build\.zig dune [^/]+\.nimble
  nextflow\.config (makefile|build)\.pl docs\/make\.jl deps\/build\.jl
  \.husky\/[^/]+ \.?githooks\/[^/]+
`;

/** A type of file that refers to others, and where its references are. */
export interface Referrer {
  readonly paths: RegExp;
  /** Paths with such extensions count anywhere in the file. */
  readonly mentions?: RegExp;
  /** Only values under such keys are read, where the file is JSON or TOML. */
  readonly keys?: RegExp;
  /** Only lines that match are read. */
  readonly lines?: RegExp;
  /** Leaves out files that the text names as data alone. */
  readonly without?: (text: string) => string;
  /** A pattern among its values stands for files that the tool reads as its own. */
  readonly takesPatterns?: boolean;
  /** What it imports, loads or starts as a program counts too (extract/languages.ts). */
  readonly isProgram?: boolean;
}

/** A build compiles Rust source; only Cargo's `build` key names a program. */
const BUILD_SCRIPT = /\.rs$/i;
const SCRIPTS_OR_PARTS = /\.(sh|bash|zsh|fish|py|rb|pl|php|[cm]?[jt]s|ps1|bat|cmd|groovy|ya?ml|env|vars)$/i;
const ANY_EXTENSION = /\.\w{1,8}$/;
const ANY_NAME = /./;
const NO_LINE = /$^/;

export const REFERRERS: readonly Referrer[] = [
  {
    paths: /(^|\/)package\.json$/i,
    mentions: SCRIPTS,
    keys: pattern('i')`^(?!(${PACKAGE_DATA})(\.|\[|$))`,
    without: withoutFilesOfReaders,
  },
  {
    paths: /(^|\/)(tsconfig[^/]*|jsconfig)\.json$/i,
    mentions: /\.json$|\.[cm]?[jt]s$|^[^.]*$/i,
    keys: /^extends|(^|\.)plugins/,
  },
  // Lists of files that are packed, compiled, checked or skipped run nothing.
  {
    paths: /(^|\/)pyproject\.toml$/i,
    mentions: SCRIPTS,
    keys: anyOf(
      /(^|\.)(scripts|tasks|commands?)(\.|\[)/i,
      pattern('i')`^(?!([^.]*\.){0,12}(${PYPROJECT_LISTS})(\.|\[|$))`,
    ),
  },
  { paths: /(^|\/)composer\.json$/i, mentions: SCRIPTS, keys: /^scripts/ },
  {
    paths:
      /(^|\/)(\.mcp\.json|\.claude\/settings(\.local)?\.json|opencode\.jsonc?|\.aider\.conf\.yml|\.(cursor|codex|gemini|windsurf|kiro|roo|opencode)\/[^/]+\.(json|toml))$/i,
    mentions: ANY_EXTENSION,
    takesPatterns: true,
  },
  { paths: AGENT_DOCUMENT, lines: NO_LINE, isProgram: true },
  {
    paths: /(^|\/)(\.vscode\/settings\.json|[^/]+\.code-workspace)$/i,
    mentions: ANY_EXTENSION,
    keys: /env|path|command|exec|script|args|config|plugin|server|interpreter|shell/i,
  },
  {
    paths: pattern('i')`(^|\/)(${EDITOR_TASKS})$`,
    mentions: SCRIPTS,
  },
  {
    paths: anyOf(
      pattern('i')`(^|\/)(${CI_FILES})$`,
      /(^|\/)\.(github\/(workflows|actions)|circleci|buildkite|woodpecker)\/.*\.ya?ml$/i,
    ),
    mentions: SCRIPTS_OR_PARTS,
    without: withoutStoredPaths,
  },
  {
    paths: pattern('i')`(^|\/)(${BUILD_FILES})$`,
    mentions: SCRIPTS,
  },
  {
    paths: /(^|\/)\.?lefthook(-local)?\.(ya?ml|toml|json)$/i,
    mentions: SCRIPTS_OR_PARTS,
  },
  // These files are programs: the paths in them are mostly build output.
  { paths: /(^|\/)(gemfile|rakefile|[^/]+\.gemspec)$/i, isProgram: true },
  { paths: /(^|\/)cargo\.toml$/i, mentions: BUILD_SCRIPT, lines: /^\s*build\s*=/ },
  { paths: /(^|\/)build\.rs$/i, lines: NO_LINE, isProgram: true },
  { paths: /(^|\/)conftest\.py$/i, lines: NO_LINE },
  { paths: PYTHON_PROGRAMS, mentions: SCRIPTS, isProgram: true },
  // A program or a filter, named or put together from a folder and a known name.
  {
    paths: /(^|\/)(doxyfile[^/]*|doxygen\.(cfg|conf))$/i,
    mentions: ANY_NAME,
    lines: /FILTER|_PATH|_LOCATION|_NAME\s*=|INCLUDE|_CMD|_TOOL|_FILE\b/,
  },
  {
    paths:
      /(^|\/)([^/]*\.config\.[cm]?[jt]s|(gulp|grunt|jake)file(\.babel)?\.[cm]?[jt]s|\.[^/]*rc\.[cm]?js|conf\.py)$/i,
    mentions: SCRIPTS,
    isProgram: true,
    lines:
      // As words of the program, not as parts of a path.
      /(?<![\w/-])(setup\w*|plugins?|presets?|require\w*|import|from|global\w*|reporters?|\w*[eE]nvironment|transform\w*|extends|resolvers?|loaders?|rules\w*|sys\.path)(?![\w/-])/,
  },
];

/** Files whose presence, or a word in them, makes a tool run every program of a folder next to them. */
export const IMPLIED: readonly { readonly paths: RegExp; readonly says?: RegExp; readonly folder: string }[] = [
  { paths: /(^|\/)nuxt\.config\.[cm]?[jt]s$/i, folder: 'modules' },
  { paths: /(^|\/)nuxt\.config\.[cm]?[jt]s$/i, folder: 'server/plugins' },
  { paths: /(^|\/)package\.json$/i, says: /"hexo"\s*:/, folder: 'scripts' },
  { paths: /(^|\/)mkdocs\.ya?ml$/i, says: /\bmacros\b/, folder: 'main' },
];
