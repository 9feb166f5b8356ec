import { decodeBytes, parentPath } from '../../core/text/path.ts';
import { readStructure } from '../formats/structured.ts';
import { isInstalled } from '../formats/text-files.ts';
import { isManifest } from '../tree/dependencies.ts';
import { type Crate, readCrate } from './crates.ts';
import { isBuildFile, namesOfBuildFile } from './extract/build-files.ts';
import { BARE, MENTIONED, namesOfCommands } from './extract/commands.ts';
import { type GoModule, namesOfGoDirectives, readGoModule } from './extract/go.ts';
import { languageOf } from './extract/languages.ts';
import { namesOfPatternValues } from './extract/patterns.ts';
import { modulesOfCommands } from './extract/python.ts';
import { isDataLeaf, isRootFile, namesOfRootFile } from './extract/root-files.ts';
import { type Name, named, placed, wordsOf } from './names.ts';
import { type OwnPackage, packageOf } from './packages.ts';
import { FOR_READERS } from './program-endings.ts';
import { IMPLIED, REFERRERS, type Referrer } from './referrer-table.ts';
import { isSettings, leavesThatLead } from './settings-values.ts';

/** What a file of the project names, and what it says of packages of the project. */
export interface Names {
  readonly names: readonly Name[];
  readonly own?: OwnPackage;
  readonly crate?: Crate;
  readonly goModule?: GoModule;
}

/** Comments, and lists of files that are checked or skipped: they run nothing. */
const NOT_RUN =
  /^\s*(#(?!!)|\/\/|\*|(-\s*)?["']?(paths(-ignore)?|exclude|omit|ignore|testpaths|per-file-ignores|hashFiles)["']?\s*[:=]|(include|source|src|files|packages|where|modules?)\s*=\s*\[)/;
const LARGEST = 1 << 20;
/** Files of Go whose directives are read; of others only where the session changed them. */
const GO_DIRECTIVES = /(^|\/)[^/]*(gen|doc|tools?|main|embed|mock)[^/]*\.go$/i;

/** The root of a library of Rust, and documents whose code is tested with it. */
const LIBRARY = /(^|\/)src\/lib\.rs$/i;
const TESTED_DOCUMENT = /\bdoc\s{0,9}=\s{0,9}include_str!\s{0,9}\(\s{0,9}"([\w./-]{1,200})"/g;

const isOf =
  (path: string) =>
  ({ paths }: { readonly paths: RegExp }): boolean =>
    paths.test(path);

/** Most files of a project: no tool takes its commands or settings from a file of such a name. */
const NO_ROOT =
  /^[^.]*\.(?:java|kt|c|cc|cpp|cxx|h|hpp|cs|scala|php|dart|vue|tsx|jsx|css|scss|less|html?|png|jpe?g|gif|svg|ico|ttf|woff2?|pdf|snap|map|po)$/i;
/** Answers for paths: each is asked for when the base is read, and again by the audit. */
const known = new Map<string, boolean>();
const MAX_KNOWN = 100_000;

/** Whether a file runs something by itself, so that the audit needs its content. Installed code is not followed. */
export function wantsBaseContent(path: string): boolean {
  if (NO_ROOT.test(path) && (path.includes('/') || !isRootFile(path))) return false;
  const had = known.get(path);
  if (had !== undefined) return had;
  const isWanted =
    !isInstalled(path) &&
    (REFERRERS.some(isOf(path)) ||
      IMPLIED.some(isOf(path)) ||
      isBuildFile(path) ||
      /(^|\/)go\.mod$/i.test(path) ||
      GO_DIRECTIVES.test(path) ||
      LIBRARY.test(path) ||
      isSettings(path) ||
      isManifest(path) ||
      isRootFile(path));
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(path, isWanted);
  return isWanted;
}

/** What a file that runs something names; undefined for every other file. */
export function namesOf(path: string, bytes: Buffer): Names | undefined {
  if (bytes.length > LARGEST || !wantsBaseContent(path)) return undefined;
  const text = decodeBytes(bytes);
  const dir = parentPath(path);
  if (LIBRARY.test(path))
    return {
      names: named(
        'file',
        wordsOf(TESTED_DOCUMENT, text).flatMap((one) => placed(dir, one) ?? []),
      ),
    };
  if (/\.go$/i.test(path)) return { names: namesOfGoDirectives(path, text) };
  const own = /(^|\/)package\.json$/i.test(path) ? packageOf(path, text) : undefined;
  const crate = /(^|\/)cargo\.toml$/i.test(path) ? readCrate(path, text) : undefined;
  const go = /(^|\/)go\.mod$/i.test(path) ? readGoModule(path, text) : undefined;
  const names = [
    ...IMPLIED.filter(isOf(path)).flatMap(({ says, folder }) =>
      says === undefined || says.test(text)
        ? (['folder', 'module'] as const).flatMap((kind) => named(kind, [placed(dir, folder) ?? folder]))
        : [],
    ),
    ...namesOfRoot(path, dir, text),
    ...namesOfBuildFile(path, text),
    ...(go?.names ?? []),
    // Cargo runs the build script next to the manifest, wherever that is.
    ...(crate === undefined ? [] : named('file', [placed(dir, 'build.rs') ?? ''])),
  ];
  return {
    names,
    ...(own === undefined ? {} : { own }),
    ...(crate === undefined ? {} : { crate }),
    ...(go?.module === undefined ? {} : { goModule: go.module }),
  };
}

/** What the commands and settings of a file name, and what it imports as a program. */
function namesOfRoot(path: string, dir: string, text: string): Name[] {
  const referrer = REFERRERS.find(isOf(path));
  // A list of what is read is more exact than what is plain.
  const isListed = referrer !== undefined && (referrer.keys !== undefined || !/\.(jsonc?|ya?ml)$|rc$/i.test(path));
  const leaves = !isListed && isSettings(path) ? leavesThatLead(path, text) : undefined;
  const values = (leaves ?? [])
    .filter((leaf) => !isDataLeaf(leaf))
    .flatMap(({ value }) => value.split('\n'))
    .filter((one) => !FOR_READERS.test(one));
  const ofRoot = isListed || !isRootFile(path) ? [] : namesOfRootFile(path, text, leaves);
  if (referrer === undefined && values.length === 0) return ofRoot;
  const parts = referrer === undefined ? '' : partsOf(referrer, path, text);
  const shown = `${parts}\n${values.join('\n')}`;
  const from = ['', dir];
  return [
    ...ofRoot,
    ...namesOfCommands(shown, dir, {
      mentions: referrer?.mentions,
      values,
      dotted: modulesOfCommands(path, shown, text),
    }),
    ...(referrer === undefined
      ? named(
          'file',
          values.flatMap((value) => wordsOf(MENTIONED, value)),
          from,
        )
      : []),
    ...(referrer?.keys === undefined
      ? []
      : named(
          'package',
          parts.split('\n').filter((one) => BARE.test(one)),
          from,
        )),
    ...(referrer?.takesPatterns === true ? namesOfPatternValues(shown, from) : []),
    ...(referrer?.isProgram === true ? (languageOf(path, text)?.namesOf(path, text) ?? []) : []),
  ];
}

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
