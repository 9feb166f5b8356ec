import { ownValue } from '../../../core/text/own-value.ts';
import { type CmakeCommand, newCmakeCommands } from '../../formats/parsers/cmake.ts';
import { anyOf, oneOf, pattern, wholeLine } from '../../formats/words.ts';
import type { JudgedText } from '../../judges/rule.ts';

const LANGUAGES = oneOf`NONE C CXX CUDA OBJC OBJCXX Fortran HIP ISPC Swift CSharp ASM(_NASM|_MASM|_MARMASM)?`;
/** Variables of CMake by which nothing is run, loaded or written elsewhere. */
const PLAIN_VARIABLES = oneOf`
  CMAKE_(C|CXX|CUDA|OBJC|OBJCXX|HIP)_(STANDARD(_REQUIRED)?|EXTENSIONS|VISIBILITY_PRESET) CMAKE_VISIBILITY_INLINES_HIDDEN
  CMAKE_(BUILD_TYPE|CONFIGURATION_TYPES|DEFAULT_BUILD_TYPE|EXPORT_COMPILE_COMMANDS|VERBOSE_MAKEFILE|COLOR_\w+)
  CMAKE_(POSITION_INDEPENDENT_CODE|INTERPROCEDURAL_OPTIMIZATION\w*|UNITY_BUILD\w*|OSX_(DEPLOYMENT_TARGET|ARCHITECTURES))
  CMAKE_(DEBUG|RELEASE|MINSIZEREL|RELWITHDEBINFO)_POSTFIX CMAKE_INCLUDE_CURRENT_DIR\w* CMAKE_AUTO(MOC|UIC|RCC)
  CMAKE_(WINDOWS_EXPORT_ALL_SYMBOLS|MSVC_RUNTIME_LIBRARY|MACOSX_RPATH|SKIP_\w*RPATH|BUILD_WITH_INSTALL_RPATH)
  CMAKE_(THREAD_PREFER_PTHREAD|DISABLE_\w+|CXX_SCAN_FOR_MODULES|POLICY_VERSION_MINIMUM|SUPPRESS_REGENERATION)
  CMAKE_(C|CXX|OBJC|OBJCXX)_FLAGS(_DEBUG|_RELEASE|_MINSIZEREL|_RELWITHDEBINFO)?
  CPACK_(PACKAGE_(NAME|VENDOR|CONTACT|DESCRIPTION\w*|VERSION\w*|HOMEPAGE_URL|FILE_NAME)|STRIP_FILES)
  CTEST_(OUTPUT_ON_FAILURE|PARALLEL_LEVEL)
`;
/** A variable of a tool, or one that names a program, a folder of a package, flags or a name that is put together. */
const TOOL_VARIABLE = anyOf(
  /^(CMAKE|CPACK|CTEST|_CMAKE|FETCHCONTENT|ENV\{|CACHE\{)/i,
  /(COMPILER|LAUNCHER|TOOLCHAIN|LINKER|PROGRAM|EXECUTABLE|_EXE|TOOL|COMMANDS?|CMD|SCRIPTS?|FLAGS|OPTIONS|GENERATOR)\b/i,
  /_(ROOT|DIR|DIRS|PATH|PREFIX|CACHE|HOOKS?|CONFIG|LIBRARY|LIBRARIES|MODULES?)\b|\$/i,
);
const IS_PLAIN_VARIABLE = pattern()`^(${PLAIN_VARIABLES})$`;

/** Options of compilers that load and run nothing and read no file. */
const PLAIN_FLAG = wholeLine(
  /-[DU]\w+(=[\w.+"\\-]*)?/,
  /-l[\w.+-]+/,
  /-W(?!l,|p,|a,|rapper)[\w+=-]*/,
  /-(O[0-3sgz]?|Ofast|g[\d]?|ggdb\d?|pedantic|pedantic-errors|pthread|w|pipe|ansi|municode|mwindows)/,
  /-(std|march|mtune|mcpu|mfpu|mfloat-abi)=[\w+.-]+/,
  /-m(32|64|sse[\d.]*|ssse3|avx\w*|fma|bmi2?|popcnt|aes|pclmul)/,
  /-f(no-)?(PIC|pic|PIE|pie|exceptions|rtti|lto|strict-aliasing|omit-frame-pointer|common|builtin|unwind-tables)/,
  /-f(no-)?(sanitize=[\w,-]+|visibility=\w+|visibility-inlines-hidden|stack-protector[\w-]*|diagnostics-color(=\w+)?)/,
  /-f(no-)?(function-sections|data-sections|signed-char|wrapv|fast-math|math-errno|char8_t|permissive|coroutines)/,
);
/**
 * A word: a name, a file below the folder or below a folder of the build, a version, an option of a compiler. No hidden
 * file, no file above, and no text that a variable begins with a dash.
 */
const PLAIN_WORD =
  /^(?:\$\{(?:CMAKE_CURRENT|CMAKE|PROJECT|\w+)_(?:SOURCE|BINARY)_DIR\}\/|\.\/)?(?![-./~])[\w.:+@<>=*,%!'?^|&$[\]{}"\\-]+(?:\/(?!\.)[\w.:+@<>=*,%$[\]{}-]+)*\/?$/;
const ODD_WORD = /\$(?!\{\w+\}|<)|\$ENV|\$CACHE|[:,>]-|\/\.|\.\.|-\$|@\w+@/;

const isPlainWord = (word: string): boolean =>
  word.startsWith('-') ? PLAIN_FLAG.test(word) : (PLAIN_WORD.test(word) && !ODD_WORD.test(word)) || word === '.';
/** An argument is cut as CMake cuts a list, and as a shell cuts a text of flags. */
const piecesOf = (arg: string): string[] =>
  arg.split(/[\s;]+/).filter((piece) => piece !== '' && !/^[()]$/.test(piece));
const arePlain = (args: readonly string[]): boolean =>
  args.every((arg) => piecesOf(arg).every((piece) => isPlainWord(piece) && !isToolVariable(piece)));
/** A variable of CMake that is named, not read: a command may write it. */
const isToolVariable = (word: string): boolean =>
  /^_?(CMAKE|CPACK|CTEST|FETCHCONTENT)_\w+$/i.test(word) && !IS_PLAIN_VARIABLE.test(word);

/** Whether a variable may be set to these values: a text for readers may be any. */
function isPlainSetting([name = '', ...values]: readonly string[]): boolean {
  if (!/^\w+$/.test(name)) return false;
  if (IS_PLAIN_VARIABLE.test(name))
    return arePlain(values) || /_(DESCRIPTION\w*|CONTACT|VENDOR|HOMEPAGE_URL)$/.test(name);
  return !TOOL_VARIABLE.test(name) && arePlain(values);
}

/** Without what is a text for readers: the words behind a keyword, up to the next one. */
function withoutTexts(args: readonly string[], keyword: RegExp): string[] {
  return args.filter((arg, at) => !keyword.test(args[at - 1] ?? '') || /^[A-Z_]+$/.test(arg));
}

type IsPlain = (args: readonly string[]) => boolean;
const always: IsPlain = () => true;
/** The first argument is one of these words, and the others are plain. */
const only =
  (list: string): IsPlain =>
  ([first = '', ...rest]) =>
    new RegExp(`^(${list})$`).test(first) && arePlain(rest);
/** Plain arguments, where the one at `at` names a variable that is written: no name that is put together. */
const isPlainWriting = (args: readonly string[], at: number): boolean =>
  arePlain(args) && isOwnVariable(args[at] ?? '');
const writing =
  (at: (args: readonly string[]) => number): IsPlain =>
  (args) =>
    isPlainWriting(args, at(args));
const isOwnVariable = (name: string): boolean =>
  /^\w+$/.test(name) && (IS_PLAIN_VARIABLE.test(name) || !TOOL_VARIABLE.test(name));
const LIST_OPERATION = /^(APPEND|PREPEND|INSERT|REMOVE_ITEM|REMOVE_AT|REMOVE_DUPLICATES|REVERSE|SORT|FILTER)$/;
const FILE_OPERATION = /^(GLOB|GLOB_RECURSE|RELATIVE_PATH|MAKE_DIRECTORY)$/;
/** Where an operation on texts names the variable that it writes. */
const TEXT_RESULT: Readonly<Record<string, number>> = {
  APPEND: 0,
  PREPEND: 0,
  CONCAT: 0,
  JOIN: 1,
  TOLOWER: 1,
  TOUPPER: 1,
  STRIP: 1,
  LENGTH: 1,
  REPLACE: 2,
  FIND: 2,
  SUBSTRING: 3,
  COMPARE: 3,
};

/** What a command may be given; a command without a row is not plain. */
const COMMANDS: readonly (readonly [names: string, IsPlain])[] = [
  [oneOf`if elseif else endif endforeach while endwhile break continue return block endblock`, always],
  [oneOf`endfunction endmacro message cmake_minimum_required cmake_policy enable_testing include_guard`, always],
  [oneOf`source_group mark_as_advanced`, always],
  ['project', (args) => isPlainProject(args)],
  ['enable_language', (args) => args.every((arg) => new RegExp(`^(${LANGUAGES}|OPTIONAL)$`).test(arg))],
  ['option', ([name = '', , value = '']) => isPlainSetting([name, value])],
  ['set', (args) => isPlainSetting(args.slice(0, args.includes('CACHE') ? args.indexOf('CACHE') : undefined))],
  ['list', ([operation = '', ...rest]) => LIST_OPERATION.test(operation) && isPlainSetting(rest)],
  [
    oneOf`
      add_executable add_library target_sources target_include_directories include_directories target_link_libraries
      link_libraries add_dependencies target_compile_features target_compile_definitions add_compile_definitions
      add_definitions remove_definitions target_precompile_headers target_compile_options add_compile_options
      write_basic_package_version_file
    `,
    (args) => arePlain(args),
  ],
  [oneOf`get_target_property get_property get_filename_component find_path foreach`, writing(() => 0)],
  ['math', writing(() => 1)],
  ['string', (args) => isPlainText(args)],
  [oneOf`check_(include|symbol|function|type|library|struct|prototype)\w*`, writing((args) => args.length - 1)],
  ['file', (args) => FILE_OPERATION.test(args[0] ?? '') && isPlainWriting(args, 1)],
  ['install', only(oneOf`TARGETS FILES DIRECTORY EXPORT`)],
  ['configure_file', (args) => arePlain(args)],
  ['add_subdirectory', (args) => args.every((arg) => /^[\w/-]+$/.test(arg) && !arg.startsWith('/'))],
  ['find_package', ([name = '', ...rest]) => /^\w+$/.test(name) && rest.every((arg) => FIND_WORD.test(arg))],
];
const FIND_WORD = /^(?!PATHS$|HINTS$|NAMES$|CONFIGS$|PATH_SUFFIXES$)[\w.]+$/;

/** An operation that makes no text out of codes, with texts that no compiler takes for an option. */
function isPlainText([operation = '', ...rest]: readonly string[]): boolean {
  // REGEX MATCH and REGEX MATCHALL have two arguments before the variable, REGEX REPLACE has three.
  const at = operation === 'REGEX' ? (rest[0] === 'REPLACE' ? 3 : 2) : ownValue(TEXT_RESULT, operation);
  if (at === undefined || !isOwnVariable(rest[at] ?? '')) return false;
  return rest.every((arg) => piecesOf(arg).every((piece) => !piece.startsWith('-') || PLAIN_FLAG.test(piece)));
}

function isPlainProject([name = '', ...rest]: readonly string[]): boolean {
  const word = new RegExp(`^(${LANGUAGES}|VERSION|DESCRIPTION|HOMEPAGE_URL|LANGUAGES|COMPAT_VERSION|[\\d.]+)$`);
  return (
    /^[\w.+-]+$/.test(name) && withoutTexts(rest, /^(DESCRIPTION|HOMEPAGE_URL|VERSION)$/).every((arg) => word.test(arg))
  );
}

const ROWS = COMMANDS.map(([names, isPlain]) => ({ names: new RegExp(`^(${names})$`), isPlain }));
/** Further sources of a command that the file calls already, which a function of the project hands on. */
const SOURCE = /^(?![-./~])[\w./+-]+\.(c|cc|cpp|cxx|h|hh|hpp|hxx|m|mm|cu|cuh|f90|inc|inl|ipp|ui|qrc|td)$/i;

function isPlainCommand({ name, args }: CmakeCommand, isCalled: (name: string) => boolean): boolean {
  const row = ROWS.find(({ names }) => names.test(name));
  if (row !== undefined) return row.isPlain(args);
  return isCalled(name) && args.slice(1).every((arg) => SOURCE.test(arg) && !arg.includes('..'));
}

/**
 * The commands that a change adds or alters and that are not known to be plain, however they are spread over lines,
 * comments and quotes. A variable that such a command of the file reads is not plain either.
 */
export function cmakeCommands({ path, before, after }: JudgedText): readonly string[] {
  if (after === undefined || !/(^|\/)(cmakelists\.txt|[^/]*\.cmake)$/i.test(path)) return [];
  const found = newCmakeCommands(before, after);
  if (typeof found === 'string') return [found];
  const { added, all, called } = found;
  const isPlain = (one: CmakeCommand): boolean => isPlainCommand(one, (name) => called.has(name));
  const read = variablesOf(all.filter((one) => !isPlain(one)));
  for (const { name, args } of [...all].reverse())
    if (name === 'set' && read.has(args[0] ?? ''))
      for (const variable of variablesOf([{ name, args }])) read.add(variable);
  return added
    .filter((one) => !isPlain(one) || (WRITES.test(one.name) && one.args.some((arg) => read.has(arg))))
    .map(({ name, args }) => `${name}(${args.join(' ')})`.slice(0, 120));
}
const WRITES = /^(set|list|string|option|file|math|get_\w+|cmake_path|foreach|find_path)$/;

const variablesOf = (commands: readonly CmakeCommand[]): Set<string> =>
  new Set(
    commands.flatMap(({ args }) =>
      args.flatMap((arg) => [...arg.matchAll(/\$\{(\w{1,200})\}/g)].map((match) => match[1] ?? '')),
    ),
  );
