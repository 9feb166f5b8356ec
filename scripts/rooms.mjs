// The rooms of src/ and who may import whom: read from the table in docs/architecture.md, compared with the imports in
// the files. Pure, but for readSources.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';

/**
 * @typedef {object} Room one row of the table
 * @property {string} name a folder below src/ (`audit`, `audit/rules`), or a folder of the repository (`images`)
 * @property {boolean} isPure its job is marked `(pure)`
 * @property {boolean} isSource below src/
 * @property {string[]} listed the rooms that it may import, named one by one
 * @property {(room: string) => boolean} mayImport
 */
/** @typedef {{ specifier: string, isType: boolean }} Import `isType`: nothing is loaded when the program runs */
/** @typedef {Map<string, Import[]>} Sources path from the repository's root → what the file imports */
/** @typedef {{ from: string, to: string, isType: boolean }} Arrow two files, or two rooms */

/** Folders beside src/ that the table has rows for; a row of any other name is a folder below src/. */
const BESIDE = ['images', 'bench', 'scripts'];
/** Files directly in src/ that belong to no folder. */
const TOP = { 'src/main.ts': 'cli', 'src/core/errors.ts': 'core/errors' };
/** What a pure room does not load: a pure function reads no disk, starts no program, opens no connection. */
const IMPURE = /^(?:node:)?(?:fs|child_process|net|http|https|http2|tls|dns|dgram|readline|worker_threads)(?:\/|$)/;
/** Only `engine`, with the rooms in it, talks to the engine. */
const ENGINE_LIBRARY = 'dockerode';

/**
 * The rows below the heading "Rooms".
 * @param {string} markdown
 * @returns {Room[]} in the table's order
 */
export function readRooms(markdown) {
  const section = markdown.split(/^## /m).find((part) => part.startsWith('Rooms\n')) ?? '';
  const rows = [...section.matchAll(/^\| `([^`]+)`[^|]*\|([^|]*)\|([^|]*)\|$/gm)];
  const names = rows.map(([, name = '']) => name);
  return rows.map(([, name = '', job = '', allowed = '']) => ({
    name,
    isPure: job.includes('(pure)'),
    isSource: !BESIDE.includes(name),
    ...readAllowed(name, allowed.trim(), names),
  }));
}

/** @param {string} name @param {string} allowed the last cell @param {string[]} names @returns {Pick<Room, 'listed' | 'mayImport'>} */
function readAllowed(name, allowed, names) {
  const listed = [...allowed.matchAll(/`([^`]+)`/g)].map(([, one = '']) => one);
  const rest = allowed.replaceAll(/`[^`]+`/g, '').replaceAll(/[\s,]/g, '');
  if (!['', 'all', 'allbut'].includes(rest)) throw new Error(`${name}: "${allowed}" is not a list of rooms`);
  for (const one of listed) {
    if (!names.includes(one)) throw new Error(`${name}: \`${one}\` has no row in the table`);
  }
  if (rest === '') return { listed, mayImport: (room) => listed.includes(room) };
  return { listed: [], mayImport: (room) => !BESIDE.includes(room) && !listed.includes(room) };
}

/**
 * The room of a file: the row of its folder, or of the nearest folder above it that has one.
 * @param {string} file path from the repository's root
 * @param {Room[]} rooms
 * @returns {string | undefined} undefined: no row covers the file
 */
export function roomOf(file, rooms) {
  const top = Object.entries(TOP).find(([one]) => one === file)?.[1];
  if (top !== undefined) return top;
  const isSource = file.startsWith('src/');
  let dir = path.posix.dirname(isSource ? file.slice('src/'.length) : file);
  for (; dir !== '.'; dir = path.posix.dirname(dir)) {
    if (rooms.some((room) => room.name === dir && room.isSource === isSource)) return dir;
  }
  return undefined;
}

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
 * Arrows between rooms; the arrow is a type's only when all of its imports are.
 * @param {Sources} sources @param {Room[]} rooms
 * @returns {Arrow[]}
 */
export function roomArrows(sources, rooms) {
  /** @type {Map<string, Arrow>} */
  const arrows = new Map();
  for (const { from, to, isType } of arrowsOf(sources)) {
    const [one, other] = [roomOf(from, rooms), roomOf(to, rooms)];
    if (one === undefined || other === undefined || one === other) continue;
    const key = `${one} ${other}`;
    arrows.set(key, { from: one, to: other, isType: isType && (arrows.get(key)?.isType ?? true) });
  }
  return [...arrows.values()];
}

/**
 * What the table does not allow, one line for each: an arrow that it lacks, a file without a room, a library that the
 * room may not load.
 * @param {Sources} sources @param {Room[]} rooms
 * @returns {string[]}
 */
export function wrongImports(sources, rooms) {
  /** @type {string[]} */
  const wrong = [];
  const roomNamed = new Map(rooms.map((room) => [room.name, room]));
  for (const [file, imports] of sources) {
    const room = roomNamed.get(roomOf(file, rooms) ?? '');
    if (room === undefined) {
      wrong.push(`${file}: its folder has no row in the table`);
      continue;
    }
    for (const { specifier, isType } of imports) {
      if (specifier.startsWith('.')) continue;
      if (specifier === ENGINE_LIBRARY && !/^engines\/engine(?:\/|$)/.test(room.name)) {
        wrong.push(`${file}: only engines/engine loads ${specifier}`);
      }
      if (room.isPure && !isType && IMPURE.test(specifier))
        wrong.push(`${file}: ${room.name} is pure, no ${specifier}`);
    }
  }
  for (const { from, to, isType } of arrowsOf(sources)) {
    const [one, other] = [roomOf(from, rooms), roomOf(to, rooms)];
    if (one === undefined || one === other) continue;
    if (other === undefined && BESIDE.includes(one) && !to.includes('/')) continue;
    if (other === undefined || !roomNamed.get(one)?.mayImport(other)) {
      wrong.push(`${from}: ${one} may not import ${other ?? 'this'}: ${to}`);
    } else if (one === 'images' && !isType) {
      wrong.push(`${from}: images may import types only, no code: ${to}`);
    }
  }
  return wrong;
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

/** @param {Room[]} rooms @returns {{ from: string, to: string }[]} every arrow that the table allows */
export function allowedArrows(rooms) {
  return rooms.flatMap(({ name: from, mayImport }) =>
    rooms.filter(({ name }) => name !== from && mayImport(name)).map(({ name: to }) => ({ from, to })),
  );
}

/**
 * The arrows in the table that no import needs; a row that says `all` promises none.
 * @param {Sources} sources @param {Room[]} rooms
 * @returns {string[]} one line for each
 */
export function unusedArrows(sources, rooms) {
  const used = new Set(roomArrows(sources, rooms).map(({ from, to }) => `${from} ${to}`));
  return rooms.flatMap(({ name, listed }) =>
    listed.filter((other) => !used.has(`${name} ${other}`)).map((other) => `${name} imports nothing of ${other}`),
  );
}

/**
 * Every module of the repository that a room of the table contains.
 * @param {string} root
 * @returns {Sources}
 */
export function readSources(root) {
  const files = ['src', ...BESIDE].flatMap((top) =>
    readdirSync(path.join(root, top), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.[mc]?[jt]s$/.test(name))
      .map((name) => path.posix.join(top, name.replaceAll(path.sep, '/'))),
  );
  return new Map(files.sort().map((file) => [file, readImports(file, readFileSync(path.join(root, file), 'utf8'))]));
}
