import { nameOfPath, parentPath } from '../../core/text/path.ts';
import { foldPath } from '../formats/glob.ts';
import type { Leads } from './referrers.ts';

const CODE = /\.(sh|bash|zsh|fish|py|rb|pl|php|[cm]?[jt]sx?|lua|groovy|json|rs|R)$/i;
/** The file that is run or imported when its folder is named. */
const FOLDER_ENTRY_FILE = /(^|\/)(index\.[cm]?[jt]sx?|main\.go|__main__\.py|__init__\.py|mod\.rs)$/i;

/** A reference in a file, to a path that is one of the prefixes followed by the rest. */
interface Lead {
  readonly referrer: string;
  /** Folded, without `.` and `..`. */
  readonly rest: string;
  readonly prefixes: () => ReadonlySet<string>;
}

/** References by the last name of their path, in the order in which they were added. */
type Table = Map<string, Lead[]>;
const KINDS = ['files', 'modules', 'folders'] as const;
export type LeadTables = Readonly<Record<(typeof KINDS)[number] | 'trees', Table>>;

export const emptyTables = (): LeadTables => ({
  files: new Map(),
  modules: new Map(),
  folders: new Map(),
  trees: new Map(),
});

const NO_PREFIX: ReadonlySet<string> = new Set(['']);

/**
 * Adds the references of a file. A reference is resolved in a folder only when a path of the same last name is searched:
 * the words of a large project, times the folders that it changes to, are millions of paths.
 */
export function addLeads(tables: LeadTables, referrer: string, leads: Leads): void {
  const byUps = new Map<number, ReadonlySet<string>>();
  const prefixesOf = (ups: number): ReadonlySet<string> => {
    const known = byUps.get(ups) ?? new Set(leads.dirs.flatMap((dir) => prefixAbove(dir, ups)));
    byUps.set(ups, known);
    return known;
  };
  const add = (table: Table, lead: Lead): void => {
    const name = nameOfPath(lead.rest);
    const others = table.get(name);
    if (others === undefined) table.set(name, [lead]);
    else others.push(lead);
  };
  for (const kind of KINDS)
    for (const word of leads[kind]) {
      const { ups, rest } = normalize(word);
      if (rest !== '') add(tables[kind], { referrer, rest: foldPath(rest), prefixes: () => prefixesOf(ups) });
      else
        for (const prefix of prefixesOf(ups))
          if (prefix !== '') add(tables[kind], { referrer, rest: prefix.slice(0, -1), prefixes: () => NO_PREFIX });
    }
  for (const folder of leads.implied) add(tables.folders, { referrer, rest: folder, prefixes: () => NO_PREFIX });
  for (const folder of leads.trees ?? []) add(tables.trees, { referrer, rest: folder, prefixes: () => NO_PREFIX });
}

/** How many folders up a word begins, and its path from there. */
function normalize(word: string): { readonly ups: number; readonly rest: string } {
  const stack: string[] = [];
  let ups = 0;
  for (const part of word.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') stack.push(part);
    else if (stack.pop() === undefined) ups += 1;
  }
  return { ups, rest: stack.join('/') };
}

/** A folder some steps above another, folded and with a slash at its end ('' at the top); none outside the tree. */
function prefixAbove(dir: string, ups: number): string[] {
  const parts = dir === '' ? [] : dir.split('/');
  if (ups > parts.length) return [];
  const above = parts.slice(0, parts.length - ups).join('/');
  return [above === '' ? '' : `${foldPath(above)}/`];
}

function find(table: Table, path: string): string | undefined {
  const leads = table.get(nameOfPath(path)) ?? [];
  return leads.find(({ rest, prefixes }) => path.endsWith(rest) && prefixes().has(path.slice(0, -rest.length)))
    ?.referrer;
}

/** The first file that refers to this path, if any. */
export function referrerOf(tables: LeadTables, path: string): string | undefined {
  if (tables.files.size + tables.modules.size + tables.folders.size + tables.trees.size === 0) return undefined;
  const { file, modules, folder } = askedFor(path);
  for (const [table, one] of [
    [tables.files, file],
    ...modules.map((module) => [tables.modules, module] as const),
    [tables.folders, folder],
    ...(tables.trees.size === 0 ? [] : foldersAbove(folder).map((above) => [tables.trees, above] as const)),
  ] as const) {
    const found = one === undefined ? undefined : find(table, one);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A folder and all folders above it. */
function foldersAbove(folder: string | undefined): string[] {
  const parts = folder === undefined ? [] : folder.split('/');
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

/** Adds a reference to files of the tree by their whole path, with or without their ending. */
export function addFiles(tables: LeadTables, referrer: string, targets: readonly string[]): void {
  const words = new Set(targets);
  addLeads(tables, referrer, { dirs: [''], files: words, modules: words, folders: new Set(), implied: [] });
}

/** The folded paths by which a file may be led to. */
function askedFor(path: string): {
  readonly file: string;
  readonly modules: readonly string[];
  readonly folder: string | undefined;
} {
  const file = foldPath(path);
  const isCode = CODE.test(file);
  const folder = parentPath(file);
  return {
    file,
    modules: [
      ...(isCode ? [file.replace(/\.[^./]+$/, '')] : []),
      ...(folder !== '' && FOLDER_ENTRY_FILE.test(file) ? [folder] : []),
    ],
    folder: folder !== '' && (isCode || !/\.[^/]*$/.test(file)) ? folder : undefined,
  };
}

/** Words that add a whole folder to a search path: its last name does not identify it. */
const ADDS_FOLDER = /path(?:_add\s|\s*=\s*\[|\.(?:insert|append)|=["']?\$\{?(?:pwd|curdir)\}?\/)/;
/** A quoted relative path. The expression begins with the rare part, for speed. */
const IMPORTS = /["'`]\.\.?\/(?<=(?:from|import|require|resolve|relative)\s*(?:\(\s*)?\\?["'`]\.\.?\/)/;

/**
 * Whether a script (lower case, each byte a character) may refer to one of these paths. May be true for a script that
 * does not, never false for one that does.
 */
export function mentionsAny(paths: readonly string[]): (script: string) => boolean {
  const names = new Set(
    paths.flatMap((path) => {
      const { file, modules } = askedFor(path);
      return [file, ...modules].map(nameOfPath);
    }),
  );
  // A name without its extension is in the name with it.
  const fewest: string[] = [];
  for (const name of [...names].sort())
    if (fewest.length === 0 || !name.startsWith(fewest.at(-1) as string)) fewest.push(name);
  // A name that is empty or not ASCII can be written in many ways.
  if (fewest.some((name) => !/^[\u0001-\u007f]+$/.test(name))) return () => true;
  const escaped = fewest.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const isFolderAsked = paths.some((path) => askedFor(path).folder !== undefined);
  const named = new RegExp(`(?<![\\w-])(?:${escaped.join('|')})`);
  return (script) =>
    named.test(script) ||
    (isFolderAsked && (ADDS_FOLDER.test(script) || script.includes('--rulesdir'))) ||
    IMPORTS.test(script);
}
