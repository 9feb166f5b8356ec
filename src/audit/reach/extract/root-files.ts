import { parentPath } from '../../../core/text/path.ts';
import { RUN_WORD, wordsOfKey } from '../../formats/key-words.ts';
import type { Leaf } from '../../formats/leaf.ts';
import { readStructure } from '../../formats/structured.ts';
import { anyOf, oneOf, pattern } from '../../formats/words.ts';
import { isApplication } from '../application.ts';
import { type Name, named, wordsOf } from '../names.ts';
import { FOR_READERS, NO_EXTENSION, SCRIPTS } from '../program-endings.ts';
import { COMPILED, MENTIONED, namesOfCommands } from './commands.ts';
import { languageOf } from './languages.ts';

/** Texts for people, and lists of files that are left out, packed or owned. */
const NO_SETTINGS = anyOf(
  pattern('i')`^(?:${oneOf`
    licen[cs]e copying readme changelog changes authors contributors notice version news todo history install thanks
    maintainers codeowners owners patents security
  `})(?:[.-].*)?$`,
  pattern('i')`^(?:${oneOf`
    \.[\w-]*ignore \.git(?:attributes|modules) \.mailmap \.editorconfig manifest(?:\.in)? \.?codecov\.ya?ml \.env(?:\..*)?
    .*[.-]lock(?:\.\w+)? .*\.(?:sum|sln|csv|tsv|sql|graphql|proto|pem|key|crt|patch|diff|bib|tex|ipynb)
    .*(?:openapi|swagger|schema)[^/]*\.(?:json|ya?ml) go\.(?:mod|work)
  `})$`,
);
/** Source of an application, unless its name says that a tool reads it. */
const SOURCE =
  /\.(?:[cm]?[jt]sx?|py|rb|php|java|kt|go|rs|c|cc|cpp|cxx|h|hpp|m|mm|cs|fs|vb|scala|swift|dart|vue|svelte|hs|ml|mli|erl|ex|jl|r|lua|pl|pm|clj|cljs|nim|zig|d|v|cr|f90|elm|sol)$/i;
const TOOL_FILE =
  /^\.|(?:^|[._-])(?:build|deploy|release|setup|conf|config|settings|project|workspace|tasks?|rules|hooks?|env|options)(?:[._-]|$)|(?:file|conf|rc)\.\w+$|^(?:premake|xmake|conan)/i;
const STRUCTURED = /\.(?:json[c5]?|ya?ml|toml|ini|cfg|conf|xml|properties)$/i;
/** Settings without an ending: `.nycrc`, `.gitlint`. */
const BARE_SETTINGS = /^\.[\w-]+$/;

/** Whether a file is one that a tool finds by its name at the top of the project, whichever tool that is. */
export function isRootFile(path: string): boolean {
  const name = path.startsWith('.config/') ? path.slice('.config/'.length) : path;
  if (name.includes('/') || FOR_READERS.test(name) || NO_SETTINGS.test(name)) return false;
  return !SOURCE.test(name) || TOOL_FILE.test(name);
}

/** Values under these words are loaded or run, but are not code of the application. */
const LOADED = pattern('i')`^(?:${oneOf`
  extends? imports? requires? includes? inherit helpers? support setup teardown globals inventory rulesdir pythonpath
  mixins? presets? transforms? transformers? reporters? resolvers? generators? recipes? initializers? middlewares?
  subninja autoload migrations? seeds? rules? checks? checkers? extensions? templates? processors? preprocessors? filters? flags? locations? helperdir
`})$`;
/** Of these, what is run is the tool's and not the application's, wherever it is stored. */
const OF_TOOL = pattern('i')`^(?:${oneOf`
  plugins? loaders? hooks? preload prelude startup bootstrap initializers? callbacks? interpreter shell helpers? requires?
  setup teardown globals extends? presets? rules? checks? reporters? preprocessors?
`})$`;
/** Lists of files that are read, packed, checked or left out, and what describes the project. */
const DATA = pattern('i')`^(?:${oneOf`
  files include exclude exclusions ignored? ignores omit sources? src srcs outputs? out dist artifacts? assets? public static docs? cache
  logs? data tmp temp reports? coverage tests? testpaths packages? workspaces? projects? members exports? types
  typings browser name title description version license authors? homepage repository urls? url schema labels? tags?
  icons? images? readme changelog keywords paths watch targets? roots? base baseurl deps dependencies
`})$`;
/** Of these, what no tool runs under whatever other name. */
const NEVER_RUN = /^(?:exclude|exclusions|ignored?|ignores|omit|name|title|description|version|types?|id|url)$/i;
/** A folder of what is loaded: `extra-path`, `pythonpath`, `rulePaths`; not of what is read or written. */
const PLACE = /^[\w-]{1,40}(?:paths?|dirs?|director(?:y|ies)|folders?)$/i;
/** Structured files that take others over. */
const PARTS = /\.(?:json[c5]?|ya?ml|toml|ini|cfg|conf|xml|properties|neon|env)$/i;
/** Files that no tool runs or takes over as its settings. */
const NO_PROGRAM =
  /\.(?:csv|tsv|sql|graphqls?|proto|pem|key|crt|snap|patch|diff|bib|tex|zip|gz|tgz|tar|xz|map|d|ico|webp|mp4|ttf|json[c5]?|ya?ml|toml|xml|xsd|properties)$/i;
const WHOLE_PATTERN = /^(?:\.\/)?[\w.@-][\w./@-]{0,100}\*[\w./*{},-]{0,100}$/;
const WHOLE_PATH = /^(?:\.{1,2}\/)*[\w@.-]{1,100}(?:\/[\w@.-]{1,100}){0,20}\/?$/;
const DOTTED = /^([A-Za-z_]\w{0,60}(?:\.[A-Za-z_]\w{0,60}){1,12})(?::\w{1,80})?$/;
/** A label of a build: `//folder/file`. */
const LABEL = /(?<=^|["'\s=(,])\/\/(?=\w)/gm;
const COMMENT = /^[ \t]{0,40}(?:#(?!use\b|load\b|include\b|!)|\/\/(?!\w)|--[ \t]|;)[^\n]*/gm;
/** A string of a program, with the names before it: `migrations: { directory: 'db' }`, `PLUGIN_PATHS = ['plugins']`. */
const ASSIGNED =
  /(?<![\w.-])(?:([\w.-]{1,40})["']?[^\w\n"']{1,8})?([\w.-]{1,40})["']?[^\w\n"']{1,12}["']([^"'\n]{1,200})["']/g;
/** Files that are compiled before they run; tools load parts of themselves in the other languages. */
const isCompiled = (word: string): boolean => COMPILED.test(word) && !/\.(?:ml|go)$/i.test(word);
const MOST_LEAVES = 4000;
const MOST_PLACES = 50;

/**
 * What a file at the top of the project names, of a tool that nothing else here knows. `leading`: the values that are not
 * plain data, where a rule knows which are.
 */
export function namesOfRootFile(path: string, text: string, leading?: readonly Leaf[]): Name[] {
  const format = /\.xml$/i.test(path) ? 'xml' : 'auto';
  const isStructured = STRUCTURED.test(path) || BARE_SETTINGS.test(path);
  const leaves = leading ?? (isStructured ? readStructure(text, format, path)?.leaves : undefined);
  if (leaves !== undefined && !leaves.some(isLineOfText)) return namesOfLeaves(leaves);
  if (SHELL.test(path) || text.startsWith('#!'))
    return [...(languageOf(path, text)?.namesOf(path, text) ?? [])].filter(isNoApplication);
  const imported = SOURCE.test(path) ? (languageOf(path, text)?.namesOf(path, text) ?? []) : [];
  return [...imported.filter(isNoApplication), ...namesOfText(text)];
}

const SHELL = /\.(?:ba|z|da|k|fi)?sh$/i;
const isNoApplication = ({ text }: Name): boolean => !isApplication(text);

/** Whether a leaf is a command or a line of a program that was read as settings. */
const isLineOfText = ({ key, value }: Leaf): boolean => key === '' || (/\s/.test(key) && /^true\b/.test(value));

const isProgram = (word: string): boolean =>
  SCRIPTS.test(word) || (!FOR_READERS.test(word) && !isCompiled(word) && !NO_PROGRAM.test(word));
const isPath = (word: string): boolean => word.includes('/') || SCRIPTS.test(word);

/** What a key says of its value. */
interface Meaning {
  readonly isRun: boolean;
  readonly isLoaded: boolean;
  readonly isPlace: boolean;
  readonly isData: boolean;
  /** Whether a path is left out because it is of the application. */
  readonly isLeftOut: (word: string) => boolean;
}

function meaningOf(key: string): Meaning {
  const words = wordsOfKey(key);
  const isRun = words.some((word) => RUN_WORD.test(word));
  const isLoaded = isRun || words.some((word) => LOADED.test(word));
  const isPlace = PLACE.test(lastName(key)) && !words.some((word) => DATA.test(word) && !/^paths?$/i.test(word));
  const isOfTool = words.some((word) => OF_TOOL.test(word));
  const last = words.at(-1) ?? '';
  const isData = NEVER_RUN.test(lastName(key)) || (!isLoaded && !isPlace && DATA.test(last));
  return { isRun, isLoaded, isPlace, isData, isLeftOut: (word) => !isOfTool && isApplication(word) };
}

/** Whether a value is read, packed, checked or left out, or is where the application begins. */
export const isDataLeaf = ({ key, value }: Leaf): boolean =>
  meaningOf(key).isData || (/(?:^|\.)main$/i.test(key) && isApplication(value));

/** The programs and parts that the values of a settings file name. */
function namesOfLeaves(leaves: readonly Leaf[]): Name[] {
  const found: Record<'file' | 'module' | 'tree' | 'glob', string[]> = { file: [], module: [], tree: [], glob: [] };
  const commands: string[] = [];
  const places = new Set<string>(['']);
  for (const { key, value } of leaves.slice(0, MOST_LEAVES)) {
    const { isRun, isLoaded, isPlace, isData, isLeftOut } = meaningOf(key);
    if (isData) continue;
    if (isPlace && places.size < MOST_PLACES) places.add(value.replace(/^\.\/|\/$/g, ''));
    if (isRun || /\s/.test(value)) commands.push(value);
    for (const word of [...wordsOf(MENTIONED, value), ...wordsOf(KEY_PATH, key)])
      if (isPath(word) && !isLeftOut(word) && (isProgram(word) || (isLoaded && PARTS.test(word))))
        found.file.push(word);
    if (!isLoaded && !isPlace) continue;
    const inner = value.replace(PREFIX, '');
    if (isPlace || (WHOLE_PATH.test(inner) && NO_EXTENSION.test(inner)))
      for (const word of wordsOf(PLACED, inner).filter((word) => !isLeftOut(`${word}/`))) found.tree.push(word);
    if (WHOLE_PATTERN.test(inner) && !isLeftOut(inner)) found.glob.push(inner);
    const dotted = DOTTED.exec(value)?.[1]?.replaceAll('.', '/') ?? '';
    if (dotted !== '' && !isLeftOut(`${dotted}/`)) found.module.push(dotted, parentPath(dotted));
  }
  const from = [...places];
  return [
    ...namesOfCommands(commands.join('\n'), '').filter(isNoApplication),
    ...named('file', found.file, from),
    ...named('module', found.module.concat(found.file.filter((word) => NO_EXTENSION.test(word))), from),
    ...named(
      'tree',
      found.tree.filter((word) => /\w/.test(word)),
    ),
    ...named('glob', found.glob, from),
  ];
}

/** What a value begins with before its path: a variable, or the way in which it is read. */
const PREFIX = /^(?:%\(\w{1,40}\)s\/|%[\w.]{1,40}%\/|\$\{?\w{1,40}\}?\/|[a-z]{2,20}:(?:\/\/)?|\.\/)/i;
const PLACED = /(?:^|[,;:\s])(?:\.\/|%\(\w{1,40}\)s\/)?([\w.-]{1,100}(?:\/[\w.-]{1,100}){0,9})/g;
/** A key that is a path itself: `"./lint/terms.js": true`. */
const KEY_PATH = /(?:^|\.)(\.{1,2}\/[\w./-]{1,200})$/g;
const lastName = (key: string): string => key.replace(/\[\]/g, '').split(/[.@]/).at(-1) ?? '';

/** The programs that a text of a tool names. */
function namesOfText(text: string): Name[] {
  const shown = text.replace(COMMENT, '').replace(LABEL, '');
  const assigned = [...shown.matchAll(ASSIGNED)].map(([, outer = '', key = '', value = '']) => ({
    key: `${outer}.${key}`,
    value,
  }));
  const files = wordsOf(MENTIONED, shown).filter((word) => isPath(word) && isProgram(word) && !isApplication(word));
  return [
    ...namesOfCommands(shown, '').filter(isNoApplication),
    ...namesOfLeaves(assigned),
    ...named('file', files),
    ...named(
      'module',
      files.filter((word) => NO_EXTENSION.test(word)),
    ),
  ];
}
