// The drawing of the areas in docs/internals/architecture.md.
import { areaOf } from './areas.mjs';
import { arrowsOf } from './imports.mjs';

/** @typedef {import('./areas.mjs').Area} Area */
/** @typedef {import('./imports.mjs').Sources} Sources */

/**
 * The areas of src/ as they are: files, entry files, and how many imports lead to each area below.
 * @param {Sources} sources @param {Area[]} areas in the order of the table
 * @returns {string} a code block
 */
export function drawAreas(sources, areas) {
  const names = areas
    .map(({ name }) => name)
    .filter((name) => [...sources.keys()].some((file) => file.startsWith(`src/${name}/`)));
  const between = arrowsOf(sources).filter(({ from, to }) => from.startsWith('src/') && areaOf(from) !== areaOf(to));
  const width = Math.max(...names.map((name) => name.length));
  const column = (/** @type {string} */ name) => name.length + 2;
  const below = names.slice(1);
  const head = `${'area'.padEnd(width)}  files  entries  ${below.map((name) => name.padStart(column(name))).join('')}`;
  const lines = names.map((name) => {
    const files = [...sources.keys()].filter((file) => areaOf(file) === name).length;
    const entries = new Set(between.filter(({ to }) => areaOf(to) === name).map(({ to }) => to)).size;
    const cells = below.map((other) => {
      const count = between.filter(({ from, to }) => areaOf(from) === name && areaOf(to) === other).length;
      return (count === 0 ? '·' : String(count)).padStart(column(other));
    });
    return `${name.padEnd(width)}  ${String(files).padStart(5)}  ${String(entries).padStart(7)}  ${cells.join('')}`;
  });
  return ['```text', head, ...lines, '```'].join('\n');
}

/**
 * @param {string} markdown @param {string} name of its marks @param {string} drawing
 * @returns {string} the page with the drawing between its two marks
 * @throws {Error} when a mark is missing
 */
export function placeDrawing(markdown, name, drawing) {
  const parts = new RegExp(`^(.*<!-- ${name}: [^\\n]*-->\\n).*(<!-- ${name} end -->.*)$`, 's').exec(markdown);
  if (parts === null) throw new Error(`the page has no marks for the drawing of the ${name}`);
  return `${parts[1]}\n${drawing}\n\n${parts[2]}`;
}
