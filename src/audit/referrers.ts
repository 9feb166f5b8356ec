import { decodeBytes } from '../types/path.ts';
import { foldPath } from './glob.ts';
import { readStructure } from './structured.ts';

/** What a file of the project says of others: files that it runs or includes, and folders whose files it takes. */
export interface Leads {
  /** Paths as they are written there; the file of that name. */
  readonly files: ReadonlySet<string>;
  /** The same where a tool adds an extension, or takes the file that a folder stands for. */
  readonly modules: ReadonlySet<string>;
  readonly folders: ReadonlySet<string>;
}

/** A kind of file that leads to others, and what in it does. */
interface Referrer {
  readonly paths: RegExp;
  /** Extensions of a path that count wherever it stands; none at all for programs without one. */
  readonly mentions?: RegExp;
  /** Only values under such keys are looked at, where the file is JSON. */
  readonly keys?: RegExp;
  /** Only such lines are looked at. */
  readonly lines?: RegExp;
}

const SCRIPTS = /\.(sh|bash|zsh|fish|py|rb|pl|php|[cm]?[jt]s|ps1|bat|cmd|lua|groovy|gradle|cmake|jl|exs|rs|R)$/i;
const SCRIPTS_OR_PARTS = /\.(sh|bash|zsh|fish|py|rb|pl|php|[cm]?[jt]s|ps1|bat|cmd|groovy|ya?ml|env|vars)$/i;
const ANY_EXTENSION = /\.\w{1,8}$/;
const NO_EXTENSION = /(^|\/)[^./]+$/;

const REFERRERS: readonly Referrer[] = [
  {
    paths: /(^|\/)package\.json$/i,
    mentions: SCRIPTS,
    keys: /^(?!(name|version|description|main|module|types|typings|exports|imports|files|browser|bin|man|directories|unpkg|jsdelivr|sideEffects|workspaces|repository|homepage|bugs|license|author|keywords|(dev|peer|optional)?dependencies|jest\.(collectCoverage|coverage|testMatch|testPath|roots|moduleFile)\w*)(\.|\[|$))/i,
  },
  { paths: /(^|\/)(tsconfig[^/]*|jsconfig)\.json$/i, mentions: /\.json$|^[^.]*$/i, keys: /^(extends|plugins)/ },
  { paths: /(^|\/)composer\.json$/i, mentions: SCRIPTS, keys: /^scripts/ },
  {
    paths:
      /(^|\/)(\.mcp\.json|\.claude\/settings(\.local)?\.json|opencode\.jsonc?|\.aider\.conf\.yml|\.(cursor|codex|gemini|windsurf|kiro|roo|opencode)\/[^/]+\.(json|toml))$/i,
    mentions: ANY_EXTENSION,
  },
  {
    paths: /(^|\/)(CLAUDE(\.local)?|AGENTS?|GEMINI|QWEN|CONVENTIONS)\.md$|(^|\/)\.(claude|cursor)\/.*\.(md|mdc)$/i,
    lines: /(^|[\s(])@[\w./-]+\.\w/,
  },
  {
    paths:
      /(^|\/)(\.vscode\/(tasks|launch)\.json|\.devcontainer(\/.*)?\/?devcontainer\.json|\.idea\/runConfigurations\/[^/]+\.xml|\.run\/[^/]+\.xml|nodemon\.json|\.mocharc\.(json|ya?ml)|deno\.jsonc?|\.lintstagedrc(\.\w+)?)$/i,
    mentions: SCRIPTS,
  },
  {
    paths:
      /(^|\/)(\.gitlab-ci\.ya?ml|azure-pipelines[^/]*\.ya?ml|taskfile(\.dist)?\.ya?ml|(docker-)?compose[^/]*\.ya?ml|\.travis\.yml|bitbucket-pipelines\.yml|\.drone\.yml|\.woodpecker\.ya?ml|\.?appveyor\.yml|cloudbuild\.ya?ml|buildspec\.ya?ml|skaffold\.ya?ml|playbook[^/]*\.ya?ml|site\.ya?ml)$|(^|\/)\.(github\/(workflows|actions)|circleci|buildkite|woodpecker)\/.*\.ya?ml$/i,
    mentions: SCRIPTS_OR_PARTS,
  },
  {
    paths:
      /(^|\/)(makefile|gnumakefile|[^/]*\.mk|\.envrc|\.?justfile|lefthook\.ya?ml|\.pre-commit-config\.yaml|jenkinsfile|procfile[^/]*|vagrantfile|tiltfile|dockerfile[^/]*|containerfile|build|build\.bazel|tox\.ini|mypy\.ini|setup\.(py|cfg)|pyproject\.toml|pytest\.ini|noxfile\.py|\.?mise\.toml|\.cargo\/config(\.toml)?|pom\.xml|phpunit\.xml(\.dist)?|build\.gradle(\.kts)?|cmakelists\.txt|meson\.build|configure\.ac|mix\.exs|[^/]*\.tf|\.husky\/[^/]+|\.?githooks\/[^/]+)$/i,
    mentions: SCRIPTS,
  },
  // Programs themselves: what they name is mostly what they build.
  { paths: /(^|\/)(gemfile|rakefile)$/i },
  { paths: /(^|\/)cargo\.toml$/i, mentions: SCRIPTS, lines: /^\s*build\s*=/ },
  { paths: /\.(ba|z|da|k)?sh$/i, mentions: SCRIPTS },
  {
    paths:
      /(^|\/)([^/]*\.config\.[cm]?[jt]s|(gulp|grunt|jake)file(\.babel)?\.[cm]?[jt]s|\.[^/]*rc\.[cm]?js|conf\.py)$/i,
    mentions: SCRIPTS,
    lines:
      /\b(setup\w*|plugins?|presets?|require\w*|import|from|global\w*|reporters?|\w*[eE]nvironment|transform\w*|resolvers?|loaders?|rules\w*|sys\.path)\b/,
  },
];

/** A word that makes the next one run or be read as the caller itself is. */
const RUNS =
  /(?:^|[\s"'`(;|&=@+-])(?:(?:ba|z|da|k)?sh|source|source_env|source_env_if_exists|dotenv|dotenv_if_exists|watch_file|\.|node|deno run|bun|bunx|tsx|ts-node|python[0-9.]*|ruby|perl|php|exec|-?include|sinclude|eval_gemfile|load|require_relative|import|!include|apply from:|-f|--file|-r|--require|-c|--config|entry:|run:|command:|script:|uses:|local:|template:|includes?:|env_file:|path:|read:)[\s"':=([,/]+((?:\.{1,2}\/)*[\w@][\w@./-]{0,200})/gi;
/** A path that begins here, in the caller's folder or behind a variable that stands for one. */
const PLACED =
  /(?:^|[\s"'`(;|&=@+,:>/])(?:\.\/|<rootDir>\/|\$\{[\w.]{1,40}\}\/|\$\([A-Z_]{1,40}\)\/|\$[A-Z_]{1,40}\$?\/|%[A-Z_]{1,40}%\/|\$\(dirname[^)]{1,40}\)"?\/)((?:\.\.\/)*[\w@][\w@./-]{0,200})/g;
/** A document that an agent takes over whole. */
const TAKEN_OVER = /(?:^|[\s(])@((?:\.{1,2}\/)*\w[\w./-]{0,200})/gm;
const MENTIONED = /(?<![\w@./$-])\/?((?:\.{1,2}\/)*[\w@][\w@.-]{0,100}(?:\/[\w@.-]{1,100}){0,20})/g;
const IMPORTED =
  /\b(?:from|import|require(?:\.resolve)?|require_relative)\s*\(?\s*\\?['"`](\.{1,2}\/[^'"`\\]{1,200})\\?['"`]/g;
const MODULES = /(?:[\s"']-(?:m|p)\s+|\bplugins?\s*=\s*\[?["']?)([A-Za-z_]\w*(?:\.\w+)+)/g;
const GO_RUN = /\bgo (?:run|build)\s+(?:-\S+\s+)*((?:\.\/)?[\w./-]{1,200})/g;
const FOLDERS =
  /(?:\b(?:PATH_add|path_add)\s+|--rulesdir[= ]|\bbackend-path\s*=\s*\[\s*|sys\.path\.(?:insert\(\s*\d+\s*,|append\()\s*|\bPATH=["']?\$\{?(?:PWD|CURDIR)\}?\/)["']?(?:\.\/)?([\w][\w./-]{0,200})/g;
const CHANGES_FOLDER =
  /(?:\bcd|\bpushd|working-directory:|--prefix|\s-C|"?(?:cwd|dir)"?:)[\s"'=]+(?:\.\/)?([\w][\w./-]{0,200})/g;
/** Lists of what is looked at or passed by, which run nothing; and comments. */
const NOT_RUN =
  /^\s*(#(?!!)|\/\/|\*|(-\s*)?["']?(paths(-ignore)?|exclude|omit|ignore|testpaths|per-file-ignores|hashFiles)["']?\s*[:=]|(include|source|src|files|packages|where|modules?)\s*=\s*\[)/;
const COMPILED = /\.(c|cc|cpp|cxx|h|hpp|m|mm|s|o|f90|go|java|cs|swift|kt|ml)$/i;
const LARGEST = 1 << 20;
const INSTALLED = /(^|\/)(node_modules|vendor|third_party|\.venv|venv|\.tox|\.nox|site-packages)\//i;

const referrerOf = (path: string): Referrer | undefined =>
  INSTALLED.test(path) ? undefined : REFERRERS.find(({ paths }) => paths.test(path));

/** Whether the audit follows what a file of the base names: its content should be at hand. Installed code is not followed. */
export function wantsBaseContent(path: string): boolean {
  return referrerOf(path) !== undefined || impliesOf(path).length > 0;
}

/** What a file says of others; undefined for one that is not followed. Paths come folded (glob.ts). */
export function leadsOf(path: string, bytes: Buffer): Leads | undefined {
  const referrer = referrerOf(path);
  const implied = impliesOf(path);
  if ((referrer === undefined && implied.length === 0) || bytes.length > LARGEST) return undefined;
  const text = decodeBytes(bytes);
  const dir = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
  const folders = new Set<string>();
  for (const { says, folder } of implied)
    if (says === undefined || says.test(text)) folders.add(foldPath(placed(dir, folder) ?? folder));
  const files = new Set<string>();
  const modules = new Set<string>();
  if (referrer === undefined) return { files, modules, folders };
  const shown = partsOf(referrer, path, text);
  const dirs = ['', dir, ...words(CHANGES_FOLDER, shown).flatMap((one) => [one, placed(dir, one) ?? ''])];
  const add = (to: Set<string>, word: string): void => {
    for (const from of new Set(dirs)) {
      const full = placed(from, word);
      if (full !== undefined && full !== '') to.add(foldPath(full));
    }
  };
  for (const word of [
    ...words(RUNS, shown),
    ...words(PLACED, shown),
    ...words(IMPORTED, shown),
    ...words(TAKEN_OVER, shown),
  ]) {
    // A compiler's -c, say.
    if (COMPILED.test(word)) continue;
    add(files, word);
    add(modules, word);
  }
  for (const word of words(MODULES, shown)) add(modules, word.replaceAll('.', '/'));
  for (const word of words(GO_RUN, shown)) {
    add(files, word);
    add(modules, word);
  }
  for (const word of words(FOLDERS, shown)) add(folders, word);
  const { mentions } = referrer;
  if (mentions !== undefined)
    for (const word of words(MENTIONED, shown))
      if (mentions.test(word) || (word.includes('/') && NO_EXTENSION.test(word))) add(files, word);
  return { files, modules, folders };
}

/** The part of a text that is looked at. */
function partsOf({ keys, lines }: Referrer, path: string, text: string): string {
  const structure = keys === undefined && !/\.jsonc?$/i.test(path) ? undefined : readStructure(text, 'jsonc', path);
  if (structure !== undefined)
    return structure.leaves
      .filter(({ key }) => keys === undefined || keys.test(key))
      .map(({ value }) => value)
      .join('\n');
  const left = text.split('\n').filter((line) => !NOT_RUN.test(line.slice(0, 200)));
  return (lines === undefined ? left : left.filter((line) => lines.test(line.slice(0, 1000)))).join('\n');
}

const words = (regex: RegExp, text: string): string[] =>
  [...text.matchAll(regex)].map((match) => (match[1] ?? '').replace(/[./:]+$/, ''));

/** A path from a folder of the tree; undefined where it leaves the tree. */
function placed(dir: string, word: string): string | undefined {
  const stack = dir === '' ? [] : dir.split('/');
  for (const part of word.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') stack.push(part);
    else if (stack.pop() === undefined) return undefined;
  }
  return stack.join('/');
}

/** Files whose presence, or a word in them, makes a tool take every program of a folder beside them. */
const IMPLIED: readonly { readonly paths: RegExp; readonly says?: RegExp; readonly folder: string }[] = [
  { paths: /(^|\/)nuxt\.config\.[cm]?[jt]s$/i, folder: 'modules' },
  { paths: /(^|\/)nuxt\.config\.[cm]?[jt]s$/i, folder: 'server/plugins' },
  { paths: /(^|\/)package\.json$/i, says: /"hexo"\s*:/, folder: 'scripts' },
  { paths: /(^|\/)mkdocs\.ya?ml$/i, says: /\bmacros\b/, folder: 'main' },
  { paths: /(^|\/)cargo\.toml$/i, says: /^\s*proc-macro\s*=\s*true/m, folder: 'src' },
];

const impliesOf = (path: string): typeof IMPLIED =>
  INSTALLED.test(path) ? [] : IMPLIED.filter(({ paths }) => paths.test(path));
