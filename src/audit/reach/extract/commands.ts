import { oneOf, pattern } from '../../formats/words.ts';
import { type Name, named, placed, wordsOf } from '../names.ts';
import { FOR_READERS, NO_EXTENSION, SCRIPTS } from '../program-endings.ts';
import { namesOfPatterns } from './patterns.ts';
import { filesOfRunText, linesWithConstants } from './shell-values.ts';

/** A blank in a word of this list is written as \x20, since blanks separate the words. */
const RUNNERS = oneOf`
  (?:ba|z|da|k)?sh source source_env source_env_if_exists dotenv dotenv_if_exists watch_file \. node deno\x20run bun
  bunx tsx ts-node rust-script -Zscript cargo\x20script python[0-9.]* ruby perl php exec -?include sinclude includeConfig
  m4_include antfile eval_gemfile load require_relative import !include apply\x20from: -f --file -r --require -c
  --config entry: run: command: script: uses: local: template: includes?: env_?file: path: read:
`;
const BEFORE_COMMAND = /[\s"'`(;|&=@+-]/;
const VARIABLE = /(?:\$\{[\w.]{1,40}\}|\$\(\w{1,40}\)|\$\w{1,40})/;
const PATH = /((?:\.{1,2}\/)*[\w@][\w@./-]{0,200})/;
/** A word that runs the next one, or reads it as a part of the caller. */
const RUNS = pattern(
  'gi',
)`(?:^|${BEFORE_COMMAND.source})(?:${RUNNERS})[\s"':=([,/]+(?:${VARIABLE.source}"?\/)?${PATH.source}`;
/** A path that begins in the caller's folder. */
const PLACED_HERE =
  /(?:^|[\s"'`(;|&=@+,:>/])(?:\.\/|<rootDir>\/|\$\(dirname[^)]{1,40}\)"?\/)((?:\.\.\/)*[\w@][\w@./-]{0,200})/g;
/** A path behind a variable: it may also be build output, so it counts only if it is a program. */
const PLACED_SOMEWHERE =
  /(?:^|[\s"'`(;|&=@+,:>/])(?:\$\{[\w.]{1,40}\}\/|\$\([A-Z_]{1,40}\)\/|\$[A-Z_]{1,40}\$?\/|%[A-Z_]{1,40}%\/)((?:\.\.\/)*[\w@][\w@./-]{0,200})/g;
/** A document that an agent includes whole. */
const TAKEN_OVER = /(?:^|[\s(])@((?:\.{1,2}\/)*\w[\w./-]{0,200})/gm;
export const MENTIONED: RegExp = /(?<![\w@./$-])\/?((?:\.{1,2}\/)*[\w@][\w@.-]{0,100}(?:\/[\w@.-]{1,100}){0,20})/g;
const IMPORTED =
  /\b(?:from|import|require(?:\.resolve)?|require_relative)\s*(?:\(\s*)?\\?['"`](\.{1,2}\/[^'"`\\]{1,200})\\?['"`]/g;
const MODULES =
  /(?:[\s"']-(?:m|p)\s+|\bplugins?\s*=\s*\[?["']?|\blua[\w.]{0,8} -l ?)([A-Za-z_]\w{0,60}(?:\.\w{1,60}){1,12})/g;
const GO_RUN = /\bgo run\s+(?:-\S+\s+)*((?:\.\/)?[\w./-]{1,200})/g;
const FOLDERS =
  /(?:\b(?:PATH_add|path_add|run-parts)\s+|--rulesdir[= ]|\bbackend-path\s*=\s*\[\s*|sys\.path\.(?:insert\(\s*\d+\s*,|append\()\s*|\bPATH[ \t]{0,4}[:?]?=[ \t]{0,4}["']?(?:\$[({]?(?:PWD|CURDIR|pwd)[)}]?\/)?|core\.hooksPath[ =])["']?(?:\.\/)?([\w.][\w./-]{0,200})/g;
/** What a command writes: a program that is run from there is named by the command that runs it. */
const OUTPUTS = /(?<=\s)--?(?:outfile|outdir|out-dir|out-file|output|output-dir)[= ]["']?[\w./@-]{1,200}/g;
/** A folder that is mounted where a container runs each file of it when it starts. */
const MOUNTS =
  /(?:^|[\s"'[-])(?:\.\/)?([\w.-]{1,100}(?:\/[\w.-]{1,100}){0,9}):\/(?:[\w.-]{1,60}\/){0,6}[\w.-]{0,60}(?:init|hooks?|plugins?|entrypoint|start|bin|\.d)[\w.-]{0,20}(?=[:"'\s\],]|$)/gm;
/** Folders of the programs that an environment takes over. */
const PREFIXES = /\bload_prefix\s+["']?(?:\.\/)?([\w.][\w./-]{0,200})/g;
/** Where Perl and Ruby look for the modules that they are given. */
const LIBRARIES = /\b(?:perl|ruby)(?: -[\w:./=-]{1,100}){0,4} -I ?([\w.][\w./-]{0,200})/g;
/** The application's own library and tests. */
const OWN_LIBRARY = /^(?:libs?|src|tests?|spec|t)\/?$/;
/** Options that name a file of another language. Only a file of this path is meant. */
const OPTIONS =
  /(?<=\s)-{1,2}(?:[dxulS]|specs?|defaults?|rcfile|init[\w-]{0,20}|conf|script|filter|lua-filter|prelude|preload|startup|profile)[= ]["']?((?:\.{1,2}\/)*\w[\w./-]{0,200})/g;
/** A program that gets its commands from a file. */
const FROM_FILE =
  /\b(?:(?:ba|z|da|k)?sh|sqlite3|psql|mysql|mongosh?|duckdb|sqlplus|gdb|python[\d.]{0,4}|node|ruby|perl|php|ed|ex|vim?|emacs|gnuplot|octave|R|julia|lua|tclsh|expect|bc|dc|m4)\b[^\n;|&<>]{0,200}<\s?((?:\.{1,2}\/)*\w[\w./-]{0,200})/g;
/** A file of configuration for git, from the folder `.git`. */
const GIT_INCLUDE = /\binclude\.path[ =]["']?\.\.\/([\w.][\w./-]{0,200})/g;
/** A program that becomes a hook of git. */
const GIT_HOOK =
  /\b(?:ln|cp|install)\b[^\n]{0,200}?[\s"'](?:\.{1,2}\/){0,9}(\w[\w./-]{0,200})["']?[ \t]{1,9}["']?[\w./$(){}-]{0,100}\.git\/hooks/g;
const CHANGES_FOLDER =
  /(?:\bcd|\bpushd|working-directory:|--prefix|\s-C|"?(?:cwd|dir)"?:)[\s"'=]+(?:\.\/)?([\w][\w./-]{0,200})/g;
const CRATES = /(?:\bcargo\b[^\n;|&:]{0,60} |["'])run [^\n;|&]{0,100}(?:-p|--package)[ =]([\w-]{1,80})/g;
export const COMPILED: RegExp = /\.(c|cc|cpp|cxx|h|hpp|m|mm|s|o|f90|go|java|cs|swift|kt|ml)$/i;
/** The most characters of paths from one text; beyond that only its first folders count. */
const MOST_OF_PATHS = 1 << 22;

const BARE_IMPORT =
  /\b(?:from|import|require(?:\.resolve)?)\s*(?:\(\s*)?\\?['"`]((?:@[\w.-]{1,100}\/)?[\w#][\w./-]{0,200})\\?['"`]/g;
const BARE_OPTION =
  /(?:\s-[rc]|--(?:require|import|loader|experimental-loader|config|preset|plugin|reporter|environment|extends))[\s=]+["']?((?:@[\w.-]{1,100}\/)?\w[\w./-]{0,200})/g;
/** The first word of a command. */
const COMMAND =
  /(?:^|[;&|(]|\b(?:npx|bunx|pnpx|exec|dlx|run-[sp]|yarn|pnpm|cross-env(?:\s+\w+=\S*)*)[ \t]|\\\n)[ \t]{0,200}([A-Za-z][\w.-]{1,80})(?=\s|$|["';&|)])/gm;
/** A folder, or the current one, that an interpreter is given. */
const RUNS_FOLDER =
  /\b(?:node|bun|tsx|ts-node|python[\d.]*|deno run)\s+(?:-{1,2}[\w-]+(?:=\S+)?\s+)*((?:\.{1,2}|[\w.-]+)(?:\/[\w.-]+)*\/?)(?=\s|$|["';&|)])/g;
/** Files of which make takes over what they hold. */
const READ_BY_MAKE =
  /(?:\$\((?:shell\s+)?(?:cat\s|<)|\$\(file\s*<|`cat\s|\bxargs\b[^\n]{0,80}<|\bsh\s*<)\s*((?:\.{1,2}\/)*[\w@][\w@./-]{0,200})/g;

/** What else is known of the text of a file. */
export interface CommandsOf {
  /** Paths that match count anywhere in the text. */
  readonly mentions?: RegExp | undefined;
  /** Single values: a path, a module or a package. */
  readonly values?: readonly string[];
  /** Modules of a language, by their dotted name. */
  readonly dotted?: readonly string[];
}

/** One path or module and nothing else. */
const WHOLE_PATH = /^[\w@./-]{2,200}$/;
/** A module of a language by its dotted name. */
const DOTTED = /^[A-Za-z_]\w{0,60}(?:\.[A-Za-z_]\w{0,60}){1,12}$/;
export const BARE: RegExp = /^@?[\w#][\w./-]{0,200}$/;

/** What the commands of a text name: of a shell, of the recipes of a build, and of the values of settings. */
export function namesOfCommands(text: string, dir: string, more: CommandsOf = {}): Name[] {
  const { mentions, values = [] } = more;
  const filled = linesWithConstants(text);
  const shown = (filled === '' ? text : `${text}\n${filled}`).replace(OUTPUTS, '');
  // The -c of a compiler names a source file; go compiles the files that it runs.
  const run = [
    ...[RUNS, PLACED_HERE, IMPORTED, TAKEN_OVER, READ_BY_MAKE].flatMap((regex) => wordsOf(regex, shown)),
    ...wordsOf(PLACED_SOMEWHERE, shown).filter((word) => SCRIPTS.test(word) || NO_EXTENSION.test(word)),
  ].filter((word) => !COMPILED.test(word));
  const goRun = wordsOf(GO_RUN, shown);
  const folderRuns = wordsOf(RUNS_FOLDER, shown);
  const programs = new Set([
    ...run,
    ...goRun,
    ...folderRuns.flatMap((word) => [word, `${word}/index`, `${word}/__main__`]),
  ]);
  const dotted = new Set(
    [...wordsOf(MODULES, shown), ...(more.dotted ?? []), ...values.filter((one) => DOTTED.test(one))].map((word) =>
      word.replaceAll('.', '/'),
    ),
  );
  const mentioned = new Set(
    mentions === undefined
      ? []
      : wordsOf(MENTIONED, shown).filter(
          (word) => mentions.test(word) || (word.includes('/') && NO_EXTENSION.test(word)),
        ),
  );
  const options = [OPTIONS, FROM_FILE, GIT_INCLUDE, GIT_HOOK]
    .flatMap((regex) => wordsOf(regex, shown))
    .filter((word) => !isRead(word));
  const taken = new Set([
    ...wordsOf(FOLDERS, shown),
    ...wordsOf(MOUNTS, shown),
    ...wordsOf(PREFIXES, shown).map((word) => `${word}/bin`),
  ]);
  const changed = wordsOf(CHANGES_FOLDER, shown).flatMap((one) => [one, placed(dir, one) ?? '']);
  const most = MOST_OF_PATHS / [...programs, ...mentioned, ...dotted, ...taken].join().length;
  const from = [...new Set(['', dir, ...changed])].slice(0, Math.max(2, most));
  const whole = values.filter((value) => WHOLE_PATH.test(value)).map((value) => value.replace(/^(\.\/)+/, ''));
  return [
    ...named('file', new Set([...programs, ...mentioned, ...options, ...filesOfRunText(shown)]), from),
    ...named('module', new Set([...programs, ...dotted, ...whole]), from),
    ...named('folder', new Set([...taken, ...goRun.filter((word) => /^\.\/\w/.test(word))]), from),
    ...named(
      'tree',
      wordsOf(LIBRARIES, shown).filter((word) => !OWN_LIBRARY.test(word)),
      from,
    ),
    ...namesOfPatterns(shown, from),
    ...named('package', [...wordsOf(BARE_IMPORT, shown), ...wordsOf(BARE_OPTION, shown)], from),
    ...named(
      'package',
      values.filter((one) => BARE.test(one)),
      from,
    ),
    ...named('command', wordsOf(COMMAND, shown)),
    ...named('crate', wordsOf(CRATES, shown)),
    ...named(
      'entry',
      folderRuns.flatMap((word) => from.flatMap((one) => placed(one, word) ?? [])),
    ),
  ];
}

const isRead = (word: string): boolean => COMPILED.test(word) || (FOR_READERS.test(word) && !/\.txt$/i.test(word));

/** What the commands name that a program starts: none of the documents that it reads. */
export function namesOfStarted(commands: readonly string[], dir: string, mentions?: RegExp): Name[] {
  if (commands.length === 0) return [];
  return namesOfCommands(commands.join('\n'), dir, { mentions }).filter(({ text }) => !FOR_READERS.test(text));
}
