// Draws screens of a terminal as an animated SVG. The same frames give the same bytes.

/**
 * A cell: its character (empty behind a wide one) and how it looks.
 * @typedef {{ char: string, colour: string, isBold: boolean, isInverse: boolean }} Cell
 * @typedef {{ rows: Cell[][], cursor: { row: number, column: number } | undefined, ms: number }} Frame
 * @typedef {{ columns: number, rows: number, title: string, description: string }} Look
 */

const CELL = { width: 8.4, height: 18 };
const FONT_SIZE = 14;
const MARGIN = 14;
const TITLE_BAR = 34;
const TEXT = '#c9d1d9';
const BACKGROUND = '#0d1117';

/** @param {string} text */
const escaped = (text) =>
  text.replace(/[&<>"]/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[char] ?? '');

/** Without zeros that say nothing. @param {number} value */
const short = (value) => String(Number(value.toFixed(3)));

/** Neighbouring cells that look the same. @param {Cell[]} row */
function runsOf(row) {
  /** @type {{ at: number, text: string, cells: number, look: Cell }[]} */
  const runs = [];
  for (const [at, cell] of row.entries()) {
    const last = runs.at(-1);
    const same =
      last?.look.colour === cell.colour && last.look.isBold === cell.isBold && last.look.isInverse === cell.isInverse;
    if (last !== undefined && same) {
      last.text += cell.char;
      last.cells += 1;
    } else runs.push({ at, text: cell.char, cells: 1, look: cell });
  }
  return runs.filter(({ text, look }) => text.trim() !== '' || look.isInverse);
}

/** One row, at the top left; empty for a blank one. @param {Cell[]} row */
function drawRow(row) {
  return runsOf(row)
    .map(({ at, text, cells, look }) => {
      const blanks = text.length - text.trimStart().length;
      const shown = text.trim();
      const x = short((at + blanks) * CELL.width);
      // Every font has another width: each run is given its own.
      const length = short((cells - (text.length - shown.length)) * CELL.width);
      const fill = look.isInverse ? BACKGROUND : look.colour;
      const back = look.isInverse
        ? `<rect x="${short(at * CELL.width)}" width="${short(cells * CELL.width)}" height="${CELL.height}" fill="${look.colour}"/>`
        : '';
      if (shown === '') return back;
      const bold = look.isBold ? ' font-weight="bold"' : '';
      const colour = fill === TEXT ? '' : ` fill="${fill}"`;
      return `${back}<text x="${x}" y="13"${colour}${bold} textLength="${length}">${escaped(shown)}</text>`;
    })
    .join('');
}

/**
 * The frames one after the other, again and again; the last one alone for users who want less motion.
 *
 * @param {Frame[]} frames @param {Look} look
 */
export function drawRecording(frames, { columns, rows, title, description }) {
  const inner = { width: columns * CELL.width, height: rows * CELL.height };
  const width = inner.width + 2 * MARGIN;
  const height = inner.height + TITLE_BAR + MARGIN;
  /** @type {Map<string, string>} */
  const known = new Map();
  const films = frames.map((frame, at) => {
    const drawn = frame.rows.map((row, y) => {
      const content = drawRow(row);
      if (content === '') return '';
      const id = known.get(content) ?? `r${known.size}`;
      known.set(content, id);
      return `<use href="#${id}" y="${y * CELL.height}"/>`;
    });
    const cursor =
      frame.cursor === undefined
        ? ''
        : `<rect class="c" x="${short(frame.cursor.column * CELL.width)}" y="${frame.cursor.row * CELL.height + 1}" width="${CELL.width}" height="16"/>`;
    return `<g transform="translate(${short(at * inner.width)})">${drawn.join('')}${cursor}</g>`;
  });
  const total = frames.reduce((sum, { ms }) => sum + ms, 0);
  let passed = 0;
  const keys = frames.map(({ ms }, at) => {
    const key = `${short((100 * passed) / total)}%{transform:translateX(${short(-at * inner.width)}px)}`;
    passed += ms;
    return key;
  });
  const last = short(-(frames.length - 1) * inner.width);
  const dots = ['#ff5f57', '#febc2e', '#28c840']
    .map((fill, at) => `<circle cx="${20 + at * 20}" cy="17" r="6" fill="${fill}"/>`)
    .join('');
  const rowsDrawn = [...known].map(([content, id]) => `<g id="${id}">${content}</g>`).join('\n');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${short(width)} ${short(height)}" width="${short(width)}" height="${short(height)}" role="img" aria-labelledby="t d" xml:space="preserve">
<title id="t">${escaped(title)}</title>
<desc id="d">${escaped(description)}</desc>
<style>
text{font-family:ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;font-size:${FONT_SIZE}px;white-space:pre}
.c{fill:${TEXT};opacity:.7}
.film{transform:translateX(${last}px)}
@media not (prefers-reduced-motion:reduce){.film{animation:film ${short(total / 1000)}s steps(1,end) infinite}}
@keyframes film{${keys.join('')}}
</style>
<rect width="${short(width)}" height="${short(height)}" rx="10" fill="${BACKGROUND}" stroke="#30363d"/>
<path d="M0 ${TITLE_BAR - 6}V10a10 10 0 0 1 10-10h${short(width - 20)}a10 10 0 0 1 10 10v${TITLE_BAR - 16}z" fill="#161b22"/>
${dots}
<text x="${short(width / 2)}" y="20" text-anchor="middle" fill="#8b949e">${escaped(title)}</text>
<defs>
${rowsDrawn}
</defs>
<svg x="${MARGIN}" y="${TITLE_BAR}" width="${short(inner.width)}" height="${short(inner.height)}" viewBox="0 0 ${short(inner.width)} ${short(inner.height)}">
<g class="film" fill="${TEXT}">
${films.join('\n')}
</g>
</svg>
</svg>
`;
}
