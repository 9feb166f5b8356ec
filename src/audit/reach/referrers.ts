import { decodeBytes, parentPath } from '../../core/text/path.ts';
import { foldPath } from '../formats/glob.ts';
import { readStructure } from '../formats/structured.ts';
import { oneOf, pattern } from '../formats/words.ts';
import { isManifest } from '../tree/dependencies.ts';
import { cargoTrees, moduleNames, placed, rustParts, wordsOf } from './modules.ts';
import { type OwnPackage, packageOf } from './packages.ts';
import { IMPLIED, NO_EXTENSION, REFERRERS, type Referrer, SCRIPTS } from './referrer-table.ts';
import { isSettings, valuesThatLead } from './settings-values.ts';

/** References in a file of the project: to files that it runs or includes, and to folders of such files. */
export interface Leads {
  /** Folders of the tree that each word may start from, not folded. */
  readonly dirs: readonly string[];
  readonly files: ReadonlySet<string>;
  /** References to which a tool adds an extension, or the entry file of a folder. */
  readonly modules: ReadonlySet<string>;
  readonly folders: ReadonlySet<string>;
  /** Folders whose files a tool takes unasked: paths of the tree, folded (glob.ts). */
  readonly implied: readonly string[];
  /** Folders of which a compiler takes every program, at any depth: paths of the tree, folded. */
  readonly trees?: readonly string[];
  /** Words that may name a package of the project, and words that may be a command of one. */
  readonly packages?: ReadonlySet<string>;
  readonly commands?: ReadonlySet<string>;
  /** Folders of the tree, not folded, that an interpreter is given. */
  readonly runFolders?: readonly string[];
  /** What the file says of a package of the project. */
  readonly own?: OwnPackage;
}

/** A blank in a word of this list is written as \x20, since blanks separate the words. */
const RUNNERS = oneOf`
  (?:ba|z|da|k)?sh source source_env source_env_if_exists dotenv dotenv_if_exists watch_file \. node deno\x20run bun
  bunx tsx ts-node rust-script -Zscript cargo\x20script python[0-9.]* ruby perl php exec -?include sinclude
  eval_gemfile load require_relative import !include apply\x20from: -f --file -r --require -c --config entry: run:
  command: script: uses: local: template: includes?: env_file: path: read:
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
const MENTIONED = /(?<![\w@./$-])\/?((?:\.{1,2}\/)*[\w@][\w@.-]{0,100}(?:\/[\w@.-]{1,100}){0,20})/g;
const IMPORTED =
  /\b(?:from|import|require(?:\.resolve)?|require_relative)\s*(?:\(\s*)?\\?['"`](\.{1,2}\/[^'"`\\]{1,200})\\?['"`]/g;
const MODULES = /(?:[\s"']-(?:m|p)\s+|\bplugins?\s*=\s*\[?["']?)([A-Za-z_]\w*(?:\.\w+)+)/g;
const GO_RUN = /\bgo run\s+(?:-\S+\s+)*((?:\.\/)?[\w./-]{1,200})/g;
const FOLDERS =
  /(?:\b(?:PATH_add|path_add)\s+|--rulesdir[= ]|\bbackend-path\s*=\s*\[\s*|sys\.path\.(?:insert\(\s*\d+\s*,|append\()\s*|\bPATH=["']?\$\{?(?:PWD|CURDIR)\}?\/)["']?(?:\.\/)?([\w][\w./-]{0,200})/g;
const CHANGES_FOLDER =
  /(?:\bcd|\bpushd|working-directory:|--prefix|\s-C|"?(?:cwd|dir)"?:)[\s"'=]+(?:\.\/)?([\w][\w./-]{0,200})/g;
/** Comments, and lists of files that are checked or skipped: they run nothing. */
const NOT_RUN =
  /^\s*(#(?!!)|\/\/|\*|(-\s*)?["']?(paths(-ignore)?|exclude|omit|ignore|testpaths|per-file-ignores|hashFiles)["']?\s*[:=]|(include|source|src|files|packages|where|modules?)\s*=\s*\[)/;
const COMPILED = /\.(c|cc|cpp|cxx|h|hpp|m|mm|s|o|f90|go|java|cs|swift|kt|ml)$/i;
const LARGEST = 1 << 20;
/** The most characters of paths from one text; beyond that only its first folders count. */
const MOST_OF_PATHS = 1 << 22;
const INSTALLED = /(^|\/)(node_modules|vendor|third_party|\.venv|venv|\.tox|\.nox|site-packages)\//i;

const isOf =
  (path: string) =>
  ({ paths }: { readonly paths: RegExp }): boolean =>
    paths.test(path);

/** Whether the audit follows the references of a file and needs its content. Installed code is not followed. */
export function wantsBaseContent(path: string): boolean {
  return (
    !INSTALLED.test(path) &&
    (REFERRERS.some(isOf(path)) || IMPLIED.some(isOf(path)) || isSettings(path) || isManifest(path))
  );
}

/** The references of a file; undefined for a file that is not followed. */
export function leadsOf(path: string, bytes: Buffer): Leads | undefined {
  if (bytes.length > LARGEST || !wantsBaseContent(path)) return undefined;
  const text = decodeBytes(bytes);
  const dir = parentPath(path);
  const implied = IMPLIED.filter(isOf(path)).flatMap(({ says, folder }) =>
    says === undefined || says.test(text) ? [foldPath(placed(dir, folder) ?? folder)] : [],
  );
  const trees = /(^|\/)cargo\.toml$/i.test(path) ? cargoTrees(dir, text, path) : [];
  const own = /(^|\/)package\.json$/i.test(path) ? packageOf(path, text) : undefined;
  const more = { implied, trees, ...(own === undefined ? {} : { own }) };
  const referrer = REFERRERS.find(isOf(path));
  // A list of what is read is more exact than what is plain.
  const isListed = referrer !== undefined && (referrer.keys !== undefined || !/\.(jsonc?|ya?ml)$|rc$/i.test(path));
  const values =
    !isListed && isSettings(path) ? (valuesThatLead(path, text) ?? []).filter((one) => !FOR_READERS.test(one)) : [];
  if (referrer === undefined && values.length === 0)
    return { dirs: [], files: new Set(), modules: new Set(), folders: new Set(), ...more };
  const shown = [...(referrer === undefined ? [] : [partsOf(referrer, path, text)]), values.join('\n')].join('\n');
  // The -c of a compiler names a source file; go compiles the files that it runs.
  const run = [
    ...[RUNS, PLACED_HERE, IMPORTED, TAKEN_OVER, READ_BY_MAKE].flatMap((regex) => wordsOf(regex, shown)),
    ...wordsOf(PLACED_SOMEWHERE, shown).filter((word) => SCRIPTS.test(word) || NO_EXTENSION.test(word)),
  ].filter((word) => !COMPILED.test(word));
  const folderRuns = wordsOf(RUNS_FOLDER, shown).flatMap((word) => [word, `${word}/index`, `${word}/__main__`]);
  const named = new Set([...run, ...wordsOf(GO_RUN, shown), ...folderRuns]);
  const dotted = new Set(
    [...wordsOf(MODULES, shown), ...moduleNames(path, shown, text)].map((word) => word.replaceAll('.', '/')),
  );
  const taken = new Set(wordsOf(FOLDERS, shown));
  const mentions = referrer?.mentions;
  const mentioned = new Set([
    ...(mentions === undefined
      ? []
      : wordsOf(MENTIONED, shown).filter(
          (word) => mentions.test(word) || (word.includes('/') && NO_EXTENSION.test(word)),
        )),
    ...(referrer === undefined ? values.flatMap((value) => wordsOf(MENTIONED, value)) : []),
  ]);
  const whole = values.filter((value) => WHOLE_PATH.test(value)).map((value) => value.replace(/^(\.\/)+/, ''));
  // Cargo runs the build script next to the manifest, wherever that is.
  const rust = /\.rs$/i.test(path)
    ? rustParts(path, text)
    : /(^|\/)cargo\.toml$/i.test(path)
      ? [placed(dir, 'build.rs') ?? '']
      : [];
  const changed = wordsOf(CHANGES_FOLDER, shown).flatMap((one) => [one, placed(dir, one) ?? '']);
  const most = MOST_OF_PATHS / [...named, ...mentioned, ...dotted, ...taken].join().length;
  const dirs = [...new Set(['', dir, ...changed])].slice(0, Math.max(2, most));
  return {
    dirs,
    files: new Set([...named, ...mentioned, ...rust]),
    modules: new Set([...named, ...dotted, ...whole, ...rust]),
    folders: taken,
    ...more,
    packages: new Set([
      ...wordsOf(BARE_IMPORT, shown),
      ...wordsOf(BARE_OPTION, shown),
      ...(referrer?.keys === undefined ? values : shown.split('\n')).filter((one) => BARE.test(one)),
    ]),
    commands: new Set(wordsOf(COMMAND, shown)),
    runFolders: wordsOf(RUNS_FOLDER, shown).flatMap((word) => dirs.flatMap((from) => placed(from, word) ?? [])),
  };
}

/** Text, pictures and styles: whatever names them, nothing in them is run. */
const FOR_READERS = /\.(md|rst|txt|adoc|png|svg|jpe?g|gif|ico|s?css|less|html?|lock|log|csv|woff2?)$/i;
/** One path or module and nothing else. */
const WHOLE_PATH = /^[\w@./-]{2,200}$/;
const BARE = /^@?[\w#][\w./-]{0,200}$/;
const BARE_IMPORT =
  /\b(?:from|import|require(?:\.resolve)?)\s*(?:\(\s*)?\\?['"`]((?:@[\w.-]{1,100}\/)?[\w#][\w./-]{0,200})\\?['"`]/g;
const BARE_OPTION =
  /(?:\s-[rc]|--(?:require|import|loader|experimental-loader|config|preset|plugin|reporter|environment|extends))[\s=]+["']?((?:@[\w.-]{1,100}\/)?\w[\w./-]{0,200})/g;
/** The first word of a command. */
const COMMAND =
  /(?:^|[;&|(]|\b(?:npx|bunx|pnpx|exec|dlx|run-[sp]|yarn|pnpm|cross-env(?:\s+\w+=\S*)*)\s)\s*([A-Za-z][\w.-]{1,80})(?=\s|$|["';&|)])/gm;
/** A folder, or the current one, that an interpreter is given. */
const RUNS_FOLDER =
  /\b(?:node|bun|tsx|ts-node|python[\d.]*|deno run)\s+(?:-{1,2}[\w-]+(?:=\S+)?\s+)*((?:\.{1,2}|[\w.-]+)(?:\/[\w.-]+)*\/?)(?=\s|$|["';&|)])/g;
/** Files of which make takes over what they hold. */
const READ_BY_MAKE =
  /(?:\$\((?:shell\s+)?(?:cat\s|<\s?)|\$\(file\s*<\s*|`cat\s|\bxargs\b[^\n]{0,80}<\s*|\bsh\s*<\s*)\s*((?:\.{1,2}\/)*[\w@][\w@./-]{0,200})/g;

/** The part of a text that is read. */
function partsOf(referrer: Referrer, path: string, text: string): string {
  const parts = readParts(referrer, path, text);
  return referrer.without?.(parts) ?? parts;
}

function readParts({ keys, lines }: Referrer, path: string, text: string): string {
  const toml = keys !== undefined && /\.toml$/i.test(path);
  const structured = keys !== undefined || /\.jsonc?$/i.test(path);
  const structure = structured ? readStructure(text, toml ? 'toml' : 'jsonc', path) : undefined;
  if (structure !== undefined)
    return structure.leaves
      .filter(({ key }) => keys === undefined || keys.test(key))
      .map(({ key, value }) => (toml ? tomlLine(key, value) : value))
      .join('\n');
  const isData = /\.ya?ml$/i.test(path) ? isUnusedVariable(text) : () => false;
  const left = text.split('\n').filter((line) => !NOT_RUN.test(line.slice(0, 200)) && !isData(line));
  return (lines === undefined ? left : left.filter((line) => lines.test(line.slice(0, 1000)))).join('\n');
}

/** Whether a line sets a variable to a file which nothing else of the text names: a program reads it as its data. */
const isUnusedVariable =
  (text: string) =>
  (line: string): boolean => {
    const name = /^\s*([A-Z][A-Z0-9_]{2,60}(?:FILE|PATH)):\s+["']?[\w./-]+["']?\s*$/.exec(line.slice(0, 400))?.[1];
    return name !== undefined && text.indexOf(name) === text.lastIndexOf(name);
  };

/** A leaf as a line of TOML: the meaning of its key decides how its value is read. */
function tomlLine(key: string, value: string): string {
  const name = key.slice(key.lastIndexOf('.') + 1).replace(/(\[\])+$/, '');
  return key.endsWith('[]') ? `${name} = ["${value}"]` : `${name} = "${value}"`;
}
