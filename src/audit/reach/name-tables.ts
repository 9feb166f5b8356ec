import { nameOfPath, parentPath } from '../../core/text/path.ts';
import { expandBraces, foldPath, userGlobs } from '../formats/glob.ts';
import { lazy } from '../formats/lazy.ts';
import type { Name } from './names.ts';
import { FOR_READERS } from './program-endings.ts';

const CODE = /\.(sh|bash|zsh|fish|py|rb|pl|php|[cm]?[jt]sx?|lua|groovy|json|rs|R|zig|nim|jl|exs?|mli?|hs|sc|nix)$/i;
/** Source that is compiled before it runs: a folder or a package is named, never one file without its ending. */
const COMPILED_CODE = /\.(go|kts?|java|scala|cs|fs|swift|pm|dart)$/i;
/** The file that is run or imported when its folder is named. */
const FOLDER_ENTRY_FILE = /(^|\/)(index\.[cm]?[jt]sx?|main\.go|__main__\.py|__init__\.py|mod\.rs|default\.nix)$/i;

/** A name, to a path that is one of the prefixes followed by the rest. */
interface Lead {
  readonly referrer: string;
  /** Folded, without `.` and `..`. */
  readonly rest: string;
  readonly prefixes: () => ReadonlySet<string>;
}

interface GlobLead {
  readonly referrer: string;
  readonly matches: () => (path: string) => boolean;
}

/** Leads by the last name of their path, in the order in which they were added. */
type Table = Map<string, Lead[]>;
type TableKind = 'file' | 'module' | 'folder' | 'tree';
export interface NameTables extends Readonly<Record<TableKind, Table>> {
  readonly globs: GlobLead[];
}

export const emptyTables = (): NameTables => ({
  file: new Map(),
  module: new Map(),
  folder: new Map(),
  tree: new Map(),
  globs: [],
});

export const isEmpty = ({ file, module, folder, tree, globs }: NameTables): boolean =>
  file.size + module.size + folder.size + tree.size + globs.length === 0;

const NO_PREFIX: ReadonlySet<string> = new Set(['']);

/**
 * Adds what a file names. A name is resolved in a folder only when a path of the same last name is searched: the words of a
 * large project, times the folders that it changes to, are millions of paths.
 */
export function addNames(tables: NameTables, referrer: string, names: readonly Name[]): void {
  const known = new Map<readonly string[], Map<number, ReadonlySet<string>>>();
  const prefixesOf = (from: readonly string[], ups: number): ReadonlySet<string> => {
    const byUps = known.get(from) ?? new Map<number, ReadonlySet<string>>();
    known.set(from, byUps);
    const prefixes = byUps.get(ups) ?? new Set(from.flatMap((dir) => prefixAbove(dir, ups)));
    byUps.set(ups, prefixes);
    return prefixes;
  };
  const add = (table: Table, lead: Lead): void => {
    const name = nameOfPath(lead.rest);
    const others = table.get(name);
    if (others === undefined) table.set(name, [lead]);
    else others.push(lead);
  };
  for (const { kind, text, from } of names) {
    const { ups, rest } = normalize(text);
    if (kind === 'glob') addGlob(tables, referrer, rest, () => prefixesOf(from, ups));
    if (kind !== 'file' && kind !== 'module' && kind !== 'folder' && kind !== 'tree') continue;
    if (rest !== '') add(tables[kind], { referrer, rest: foldPath(rest), prefixes: () => prefixesOf(from, ups) });
    else
      for (const prefix of prefixesOf(from, ups))
        if (prefix !== '') add(tables[kind], { referrer, rest: prefix.slice(0, -1), prefixes: () => NO_PREFIX });
  }
}

/** Braces of one pattern, and folders that it may start from: what is beyond is left out. */
const MAX_BRACES = 3;
const MAX_GLOBS = 2000;

/** A pattern without any letter says nothing about what runs. */
function addGlob(tables: NameTables, referrer: string, rest: string, prefixes: () => ReadonlySet<string>): void {
  if (!/[a-z]/i.test(rest) || tables.globs.length >= MAX_GLOBS || rest.split('{').length > MAX_BRACES + 1) return;
  const matches = lazy(() => {
    const globs = expandBraces(foldPath(rest));
    const matches = userGlobs([...prefixes()].flatMap((prefix) => globs.map((glob) => `/${prefix}${glob}`)));
    // Documents are meant only by a pattern that says so.
    return FOR_READERS.test(rest) ? matches : (path: string) => !FOR_READERS.test(path) && matches(path);
  });
  tables.globs.push({ referrer, matches });
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
  return leads.find(
    ({ rest, prefixes }) => path.endsWith(rest) && prefixes().has(path.slice(0, path.length - rest.length)),
  )?.referrer;
}

/** The first file that names this path, if any. */
export function referrerOf(tables: NameTables, path: string): string | undefined {
  return isEmpty(tables) ? undefined : referrerOfAsked(tables, askedFor(path));
}

/** The folded paths by which a file may be named. */
export interface Asked {
  readonly file: string;
  readonly modules: readonly string[];
  readonly folder: string | undefined;
}

/** As {@link referrerOf}, of a path whose forms are known. */
export function referrerOfAsked(tables: NameTables, { file, modules, folder }: Asked): string | undefined {
  let found = find(tables.file, file);
  for (const module of modules) found ??= find(tables.module, module);
  if (folder !== undefined) {
    found ??= find(tables.folder, folder);
    if (tables.tree.size > 0) for (const above of foldersAbove(folder)) found ??= find(tables.tree, above);
  }
  return found ?? tables.globs.find(({ matches }) => matches()(file))?.referrer;
}

/** A folder and all folders above it. */
function foldersAbove(folder: string): string[] {
  const parts = folder.split('/');
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

/** The folded paths by which a file may be named. */
export function askedFor(path: string): Asked {
  const file = foldPath(path);
  const isCode = CODE.test(file);
  const folder = parentPath(file);
  const isProgram = isCode || COMPILED_CODE.test(file) || !/\.[^./]*$/.test(file);
  return {
    file,
    modules: [
      ...(isCode ? [file.replace(/\.[^./]+$/, '')] : []),
      ...(folder !== '' && FOLDER_ENTRY_FILE.test(file) ? [folder] : []),
    ],
    folder: folder !== '' && isProgram ? folder : undefined,
  };
}
