// What the modules of the repository import: read from the files. Pure, but for readSources.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';

/** @typedef {{ specifier: string, isType: boolean }} Import `isType`: nothing is loaded when the program runs */
/** @typedef {Map<string, Import[]>} Sources path from the repository's root → what the file imports */
/** @typedef {{ from: string, to: string, isType: boolean }} Arrow two files */

/** The folders of modules: the command, and what is not part of it. */
export const TOP_FOLDERS = ['src', 'images', 'bench', 'scripts'];

/**
 * Every import of a module: `import`, `export … from`, `import()`, the type `import('…')`, the same in JSDoc, and the
 * names given to `loadSource` (bench/load-source.mjs).
 * @param {string} file its name says which language it is written in
 * @param {string} text
 * @returns {Import[]}
 * @throws {Error} when it is not a module, or when an `import()` names no constant
 */
export function readImports(file, text) {
  const parsed = parseSync(file, text);
  if (parsed.errors.length > 0) throw new Error(`${file}: ${parsed.errors[0]?.message}`);
  /** @type {Import[]} */
  const found = [];
  for (const { moduleRequest, entries } of parsed.module.staticImports) {
    found.push({
      specifier: moduleRequest.value,
      isType: entries.length > 0 && entries.every(({ isType }) => isType),
    });
  }
  for (const { moduleRequest, isType } of parsed.module.staticExports.flatMap(({ entries }) => entries)) {
    if (moduleRequest !== null && moduleRequest !== undefined) found.push({ specifier: moduleRequest.value, isType });
  }
  new Visitor({
    ImportExpression({ source }) {
      const specifier = constantText(source);
      if (specifier !== undefined) found.push({ specifier, isType: false });
      else if (file.startsWith('src/')) throw new Error(`${file}: an import() whose name is not a constant`);
    },
    TSImportType({ source }) {
      found.push({ specifier: source.value, isType: true });
    },
    CallExpression({ callee, arguments: given }) {
      if (callee.type !== 'Identifier' || callee.name !== 'loadSource') return;
      for (const one of given) {
        const specifier = constantText(one);
        if (specifier !== undefined) found.push({ specifier: `../src/${specifier}`, isType: false });
      }
    },
  }).visit(parsed.program);
  for (const { value } of parsed.comments) {
    for (const [, specifier = ''] of value.matchAll(/\bimport\('([^']+)'\)/g)) found.push({ specifier, isType: true });
  }
  return found;
}

/** @param {{ type: string, value?: unknown }} node @returns {string | undefined} */
function constantText({ type, value }) {
  return type === 'Literal' && typeof value === 'string' ? value : undefined;
}

/**
 * Arrows between files, by resolved path; packages are left out.
 * @param {Sources} sources
 * @returns {Arrow[]}
 */
export function arrowsOf(sources) {
  return [...sources].flatMap(([from, imports]) =>
    imports
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier, isType }) => ({ from, to: path.posix.join(path.posix.dirname(from), specifier), isType })),
  );
}

/**
 * A cycle of arrows.
 * @param {{ from: string, to: string }[]} arrows
 * @returns {string[] | undefined} its nodes, the first one again at the end; undefined: there is none
 */
export function findCycle(arrows) {
  /** @type {Map<string, string[]>} */
  const next = new Map();
  for (const { from, to } of arrows) next.set(from, [...(next.get(from) ?? []), to]);
  /** @type {Set<string>} */
  const finished = new Set();
  /** @param {string} node @param {string[]} above @returns {string[] | undefined} */
  const visit = (node, above) => {
    if (above.includes(node)) return [...above.slice(above.indexOf(node)), node];
    if (finished.has(node)) return undefined;
    for (const one of next.get(node) ?? []) {
      const cycle = visit(one, [...above, node]);
      if (cycle !== undefined) return cycle;
    }
    finished.add(node);
    return undefined;
  };
  for (const node of next.keys()) {
    const cycle = visit(node, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

/**
 * Every module of the repository below its top folders.
 * @param {string} root
 * @returns {Sources}
 */
export function readSources(root) {
  const files = TOP_FOLDERS.flatMap((top) =>
    readdirSync(path.join(root, top), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.[mc]?[jt]s$/.test(name))
      .map((name) => path.posix.join(top, name.replaceAll(path.sep, '/'))),
  );
  return new Map(files.sort().map((file) => [file, readImports(file, readFileSync(path.join(root, file), 'utf8'))]));
}
