// The areas of src/ and who may import whom. The table of areas is in docs/internals/architecture.md; each area's README.md has the
// table of its folders and the list of its entry files. Pure, but for readPlan.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { arrowsOf, TOP_FOLDERS } from './imports.mjs';

/** @typedef {import('./imports.mjs').Arrow} Arrow */
/** @typedef {import('./imports.mjs').Sources} Sources */
/**
 * @typedef {object} Folder a row of the table in an area's README.md
 * @property {string} name below the area (`apply`); `.` for the files directly in the area
 * @property {boolean} isPure its job is marked `(pure)`
 * @property {string[]} mayImport folders of the same area
 */
/**
 * @typedef {object} Area a row of the table in docs/internals/architecture.md, with what its README.md says
 * @property {string} name a folder directly in src/, or another top folder of the repository (`bench`)
 * @property {string[]} mayImport areas, all of them below it
 * @property {Folder[]} folders
 * @property {string[] | undefined} entryFiles paths from the repository's root; undefined: other areas may import any file
 */

/** What a pure folder does not load: a pure function reads no disk, starts no program, opens no connection. */
const IMPURE = /^(?:node:)?(?:fs|child_process|net|http|https|http2|tls|dns|dgram|readline|worker_threads)(?:\/|$)/;
/** Only `src/engines/engine` loads the client library of the engine. */
const ENGINE_LIBRARY = 'dockerode';
const ENGINE_FOLDER = 'src/engines/engine/';
/** Top folders that may import every file of the areas in their row: benchmarks measure what is inside. */
const SEE_EVERYTHING = ['bench'];

/**
 * @param {string} markdown docs/internals/architecture.md
 * @param {(name: string) => string} readme the text of an area's README.md
 * @returns {Area[]} in the order of the table: from the top
 * @throws {Error} when a row names an area or a folder that has no row
 */
export function readAreas(markdown, readme) {
  const rows = tableBelow(markdown, 'Areas');
  const names = rows.map(([name = '']) => name);
  return rows.map(([name = '', , allowed = '']) => {
    const inside = TOP_FOLDERS.includes(name) ? '' : readme(name);
    const folders = tableBelow(inside, 'Folders');
    return {
      name,
      mayImport: namesIn(allowed, names, name),
      folders: folders.map(([folder = '', job = '', may = '']) => ({
        name: folder,
        isPure: job.includes('(pure)'),
        mayImport: namesIn(
          may,
          folders.map(([one = '']) => one),
          `${name}/${folder}`,
        ),
      })),
      entryFiles: entryFilesIn(name, inside),
    };
  });
}

/** @param {string} markdown @param {string} heading @returns {string[][]} name, job, names of each row */
function tableBelow(markdown, heading) {
  const section = markdown.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^\| `([^`]+)`[^|]*\|([^|]*)\|([^|]*)\|$/gm)].map(([, ...cells]) => cells);
}

/** @param {string} cell @param {string[]} known @param {string} row @returns {string[]} */
function namesIn(cell, known, row) {
  const names = [...cell.matchAll(/`([^`]+)`/g)].map(([, one = '']) => one);
  const unknown = names.find((one) => !known.includes(one));
  if (unknown !== undefined) throw new Error(`${row}: \`${unknown}\` has no row in the table`);
  return names;
}

/** @param {string} area @param {string} readme @returns {string[] | undefined} */
function entryFilesIn(area, readme) {
  const section = readme.split(/^## /m).find((part) => part.startsWith('Entry files\n'));
  if (section === undefined) return undefined;
  return [...section.matchAll(/^- (?:`([^`]+)\/`: )?(.+)$/gm)].flatMap(([, folder, files = '']) =>
    [...files.matchAll(/`([^`]+)`/g)].map(([, file = '']) => path.posix.join('src', area, folder ?? '', file)),
  );
}

/** @param {string} root of the repository @returns {Area[]} as written there */
export function readPlan(root) {
  const page = readFileSync(path.join(root, 'docs/internals/architecture.md'), 'utf8');
  return readAreas(page, (name) => readFileSync(path.join(root, 'src', name, 'README.md'), 'utf8'));
}

/** @param {string} file path from the repository's root @returns {string} the name of its area */
export function areaOf(file) {
  if (file === 'src/main.ts') return 'cli';
  const [top = '', next = ''] = file.split('/');
  return top === 'src' ? next : top;
}

/** @param {string} file @param {Area} area its area @returns {Folder | undefined} the row of its folder, or of the nearest one above it */
export function folderOf(file, area) {
  let dir = path.posix.relative(`src/${area.name}`, path.posix.dirname(file)) || '.';
  if (file === 'src/main.ts') dir = '.';
  for (; ; dir = path.posix.dirname(dir)) {
    const found = area.folders.find(({ name }) => name === dir);
    if (found !== undefined || dir === '.') return found;
  }
}

/**
 * What the tables do not allow, a line for each.
 * @param {Sources} sources @param {Area[]} areas
 * @returns {string[]}
 */
export function wrongImports(sources, areas) {
  const named = new Map(areas.map((area) => [area.name, area]));
  /** @type {string[]} */
  const wrong = [];
  for (const [file, imports] of sources) {
    const area = named.get(areaOf(file));
    if (area === undefined || (file.startsWith('src/') && folderOf(file, area) === undefined)) {
      wrong.push(`${file}: its folder has no row in a table`);
      continue;
    }
    for (const { specifier, isType } of imports) {
      if (specifier === ENGINE_LIBRARY && file.startsWith('src/') && !file.startsWith(ENGINE_FOLDER)) {
        wrong.push(`${file}: only ${ENGINE_FOLDER} loads ${specifier}`);
      }
      if (folderOf(file, area)?.isPure === true && !isType && IMPURE.test(specifier)) {
        wrong.push(`${file}: its folder is pure, it may not load ${specifier}`);
      }
    }
  }
  for (const arrow of arrowsOf(sources)) {
    const from = named.get(areaOf(arrow.from));
    if (from === undefined) continue;
    const reason = whyWrong(arrow, from, named.get(areaOf(arrow.to)));
    if (reason !== undefined) wrong.push(`${arrow.from}: ${reason}: ${arrow.to}`);
  }
  return wrong;
}

/** @param {Arrow} arrow @param {Area} from @param {Area | undefined} to @returns {string | undefined} */
function whyWrong({ from: file, to: target, isType }, from, to) {
  if (to === undefined)
    return TOP_FOLDERS.includes(from.name) && !target.includes('/') ? undefined : 'may not import this';
  if (from === to) {
    const [one, other] = [folderOf(file, from), folderOf(target, to)];
    if (one === other || one?.mayImport.includes(other?.name ?? '')) return undefined;
    return `${from.name}/${one?.name} may not import ${other?.name}`;
  }
  if (!from.mayImport.includes(to.name)) return `${from.name} may not import ${to.name}`;
  if (from.name === 'images' && !isType) return 'images may import types only';
  if (SEE_EVERYTHING.includes(from.name)) return undefined;
  if (to.entryFiles !== undefined && !to.entryFiles.includes(target)) return `not an entry file of ${to.name}`;
  return undefined;
}

/**
 * What the tables and lists allow and no import uses, a line for each.
 * @param {Sources} sources @param {Area[]} areas
 * @returns {string[]}
 */
export function unusedRows(sources, areas) {
  const arrows = arrowsOf(sources);
  const between = new Set(arrows.map(({ from, to }) => `${areaOf(from)} ${areaOf(to)}`));
  const entered = new Set(
    arrowsOf(sources)
      .filter(({ from, to }) => areaOf(from) !== areaOf(to) && !SEE_EVERYTHING.includes(areaOf(from)))
      .map(({ to }) => to),
  );
  const inside = new Set(
    areas.flatMap((area) =>
      arrows
        .filter(({ from, to }) => areaOf(from) === area.name && areaOf(to) === area.name)
        .map(({ from, to }) => `${area.name} ${folderOf(from, area)?.name} ${folderOf(to, area)?.name}`),
    ),
  );
  return areas.flatMap(({ name, mayImport, folders, entryFiles }) => [
    ...mayImport
      .filter((other) => !between.has(`${name} ${other}`))
      .map((other) => `${name} imports nothing of ${other}`),
    ...folders.flatMap((folder) =>
      folder.mayImport
        .filter((other) => !inside.has(`${name} ${folder.name} ${other}`))
        .map((other) => `${name}/${folder.name} imports nothing of ${other}`),
    ),
    ...(entryFiles ?? []).filter((file) => !entered.has(file)).map((file) => `${file}: no other area imports it`),
  ]);
}

/**
 * @param {Area[]} areas
 * @returns {string[]} rows of the table of areas that allow an import of a row above them
 */
export function upwardRows(areas) {
  const names = areas.map(({ name }) => name);
  return areas.flatMap(({ name, mayImport }, at) =>
    mayImport
      .filter((other) => names.indexOf(other) <= at && !TOP_FOLDERS.includes(name))
      .map((other) => `${name}: ${other} is above it`),
  );
}

/** @param {Area} area @returns {{ from: string, to: string }[]} every arrow between folders that its table allows */
export function folderArrows({ folders }) {
  return folders.flatMap(({ name: from, mayImport }) => mayImport.map((to) => ({ from, to })));
}
