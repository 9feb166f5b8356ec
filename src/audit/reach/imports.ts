import { decodeBytes, parentPath } from '../../core/text/path.ts';
import { foldPath } from '../formats/glob.ts';
import { anyOf, oneOf, pattern } from '../formats/words.ts';
import type { BaseReader, Scene } from '../input.ts';
import { addLeads, type LeadTables, referrerOf } from './lead-tables.ts';
import { placed, wordsOf } from './modules.ts';

/** Programs that import others by a path or a module's name. */
const PROGRAM = /\.(?:[cm]?[jt]s|[jt]sx|py)$/i;
const SOURCE_FOLDERS = oneOf`
  src lib libs app apps server client source pages components routes public examples? docs? tests? __tests__ specs? e2e
  fixtures node_modules vendor third_party \.?venv site-packages dist build out
`;
/**
 * The application itself, its tests, and code that is installed: a build may import a part of it, but what that imports
 * is ordinary source, which runs wherever the application does.
 */
const NOT_FOLLOWED = anyOf(
  pattern('i')`(?:^|\/)(?:${SOURCE_FOLDERS})\/`,
  /^(?:(?:packages|services|modules)\/[^/]+\/)?(?:index|main|server|app|cli|manage|wsgi|asgi)\.\w+$/i,
  /[._-](?:test|spec)\.\w+$|(?:^|\/)(?:test_[^/]*|[^/]*_test|conftest)\.py$/i,
);
/** Limits for all programs of one audit. */
const MAX_PROGRAMS = 400;
const MAX_BYTES = 8 << 20;
const MAX_PROGRAM_BYTES = 1 << 20;

const JS_IMPORT =
  /(?:\b(?:from|import|require(?:\.resolve)?)\s*(?:\(\s*)?|\bnew URL\(\s*)["'`](\.{1,2}\/[^"'`\\\n]{1,200}|\.{1,2})["'`]/g;
const PYTHON_FROM = /^[ \t]*from[ \t]+(\.{0,8})([A-Za-z_][\w.]{0,200})?[ \t]+import[ \t]+([^\n]{1,300})/gm;
const PYTHON_IMPORT = /^[ \t]*import[ \t]+([A-Za-z_][\w., \t]{0,2000})/gm;

/** What a program imports of the project: paths from the top, without an ending or with it. */
export function importsOf(path: string, text: string): readonly string[] {
  const dir = parentPath(path);
  if (!/\.py$/i.test(path))
    return wordsOf(JS_IMPORT, text).flatMap((word) => {
      const target = placed(dir, word);
      // TypeScript names the file that it will compile to.
      return target === undefined ? [] : [target, target.replace(/\.[cm]?jsx?$/i, '')];
    });
  return [...pythonImports(text)].flatMap(([ups, name]) => {
    // A script finds modules next to it.
    const from = ups === 0 ? dir : placed(dir, '../'.repeat(ups - 1));
    const target = from === undefined ? undefined : placed(from, name.replaceAll('.', '/'));
    return target === undefined || target === '' ? [] : [target];
  });
}

/** How many dots precede a module's name, and the name. */
function* pythonImports(text: string): Generator<readonly [ups: number, name: string]> {
  const first = (word: string): string =>
    word
      .trim()
      .replace(/^\(\s*/, '')
      .split(/[\s)#]/)[0] ?? '';
  for (const [, dots = '', from = '', names = ''] of text.matchAll(PYTHON_FROM)) {
    if (from !== '') yield [dots.length, from];
    for (const name of names.split(',')) {
      const word = first(name);
      if (/^\w+$/.test(word)) yield [dots.length, from === '' ? word : `${from}.${word}`];
    }
  }
  for (const [, list = ''] of text.matchAll(PYTHON_IMPORT))
    for (const name of list.split(',')) if (first(name) !== '') yield [0, first(name)];
}

/** The programs of a base, by the folded paths that an import may have. */
interface Programs {
  readonly all: readonly string[];
  readonly byPath: ReadonlyMap<string, readonly string[]>;
}
const ofBases = new WeakMap<BaseReader, Programs>();

function programsOf(base: BaseReader): Programs {
  const known = ofBases.get(base);
  if (known !== undefined) return known;
  const all = [...base.paths].filter((path) => PROGRAM.test(path));
  const made = { all, byPath: indexed(all) };
  ofBases.set(base, made);
  return made;
}

function indexed(paths: readonly string[]): Map<string, string[]> {
  const out = new Map<string, string[]>();
  const add = (key: string, path: string): void => {
    const others = out.get(key);
    if (others === undefined) out.set(key, [path]);
    else others.push(path);
  };
  for (const path of paths) {
    const folded = foldPath(path);
    const stem = folded.replace(/\.[^./]+$/, '');
    add(folded, path);
    add(stem, path);
    if (/\/(?:index|__init__)$/.test(stem)) add(parentPath(folded), path);
  }
  return out;
}

/**
 * Adds what the programs import that the tables already lead to, at any depth: configuration names one file of a tool, and
 * that file names the others. `isDeleted`: paths that the session leaves without a file.
 */
export function followImports(tables: LeadTables, scene: Scene, isDeleted: (path: string) => boolean): void {
  const { base, changes } = scene.input;
  const changed = changes.filter(({ path, ignored }) => ignored !== true && PROGRAM.test(path)).map(({ path }) => path);
  if (changed.length === 0) return;
  const known = base === undefined ? undefined : programsOf(base);
  const own = indexed(changed);
  const find = (target: string): string[] => {
    const key = foldPath(target);
    return [...(known?.byPath.get(key) ?? []), ...(own.get(key) ?? [])];
  };
  const isReached = (path: string): boolean => !NOT_FOLLOWED.test(path) && referrerOf(tables, path) !== undefined;
  const left = [...new Set([...(known?.all ?? []), ...changed])].filter(isReached);
  const seen = new Set(left);
  let bytes = 0;
  for (let count = 0; count < left.length && count < MAX_PROGRAMS && bytes < MAX_BYTES; count += 1) {
    const path = left[count] as string;
    const targets = new Set<string>();
    for (const text of textsOf(scene, path)) {
      bytes += text.length;
      for (const target of importsOf(path, text)) targets.add(target);
    }
    const found = [...targets].filter((target) => find(target).length > 0);
    if (found.length === 0) continue;
    const words = new Set(found);
    if (!isDeleted(path))
      addLeads(tables, path, { dirs: [''], files: words, modules: words, folders: new Set(), implied: [] });
    for (const one of found.flatMap(find)) {
      if (seen.has(one) || NOT_FOLLOWED.test(one)) continue;
      seen.add(one);
      left.push(one);
    }
  }
}

/** What a program was and what it is. */
function textsOf({ input, byPath, bytes }: Scene, path: string): string[] {
  const change = byPath.get(path);
  const contents = change === undefined ? [input.base?.read(path)] : [bytes(change.before), bytes(change.after)];
  return contents.flatMap((one) => (Buffer.isBuffer(one) && one.length <= MAX_PROGRAM_BYTES ? [decodeBytes(one)] : []));
}
