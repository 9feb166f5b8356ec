// The drawing of the rooms in docs/architecture.md.
import { arrowsOf, roomArrows, roomOf } from './rooms.mjs';

/** @typedef {import('./rooms.mjs').Room} Room */
/** @typedef {import('./rooms.mjs').Arrow} Arrow */
/** @typedef {import('./rooms.mjs').Sources} Sources */

/**
 * The rooms as they are, for docs/architecture.md: whoever imports is above whom it imports.
 * @param {Sources} sources @param {Room[]} rooms
 * @returns {string} a code block
 */
export function drawRooms(sources, rooms) {
  const arrows = roomArrows(sources, rooms);
  const between = arrowsOf(sources).filter(({ from, to }) => roomOf(from, rooms) !== roomOf(to, rooms));
  const lines = inLayers(rooms, arrows).flatMap((name) => {
    const files = [...sources.keys()].filter((file) => roomOf(file, rooms) === name);
    const doors = new Set(between.map(({ to }) => to).filter((file) => roomOf(file, rooms) === name));
    const imports = arrows.filter(({ from }) => from === name).map(({ to }) => to);
    return wrap(`${name.padEnd(22)}${count(files.length)}${count(doors.size)}   `, imports.sort());
  });
  const head = `${'room'.padEnd(22)}${'files'.padStart(6)}${'doors'.padStart(6)}   imports`;
  return ['```text', head, ...lines, '```'].join('\n');
}

/** @param {number} value */
const count = (value) => String(value).padStart(6);

/** @param {string} first @param {string[]} words @returns {string[]} lines of at most 118 columns, aligned below each other */
function wrap(first, words) {
  const lines = [first];
  for (const word of words) {
    if (`${lines.at(-1)}${word}`.length > 118) lines.push(' '.repeat(first.length));
    lines.push(`${lines.pop()}${word} `);
  }
  return lines.map((line) => line.trimEnd());
}

/** @param {Room[]} rooms @param {Arrow[]} arrows @returns {string[]} names, each above all that it imports */
function inLayers(rooms, arrows) {
  /** @type {Map<string, number>} */
  const depths = new Map();
  /** @param {string} name @returns {number} how many arrows the longest way down has */
  const depthOf = (name) => {
    const known = depths.get(name);
    if (known !== undefined) return known;
    depths.set(name, 0); // In a cycle, which the test refuses, this ends.
    const below = arrows.filter(({ from }) => from === name).map(({ to }) => depthOf(to) + 1);
    depths.set(name, Math.max(0, ...below));
    return depths.get(name) ?? 0;
  };
  const names = rooms.filter(({ isSource }) => isSource).map(({ name }) => name);
  return names.sort((one, other) => depthOf(other) - depthOf(one) || (one < other ? -1 : 1));
}

/**
 * @param {string} markdown @param {string} drawing
 * @returns {string} the page with the drawing between its two marks
 * @throws {Error} when a mark is missing
 */
export function placeDrawing(markdown, drawing) {
  const parts = /^(.*<!-- rooms: [^\n]*-->\n).*(<!-- rooms end -->.*)$/s.exec(markdown);
  if (parts === null) throw new Error('docs/architecture.md has no marks for the drawing of the rooms');
  return `${parts[1]}\n${drawing}\n\n${parts[2]}`;
}
