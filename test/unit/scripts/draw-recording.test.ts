import { expect, it } from 'vitest';
import { drawRecording } from '../../../scripts/draw-recording.mjs';

const LOOK = { columns: 20, rows: 2, title: 'A <title>', description: 'What & how' };
const WHITE = '#c9d1d9';

function rowOf(text: string, colour = WHITE) {
  return Array.from(text.padEnd(LOOK.columns), (char) => ({ char, colour, isBold: false, isInverse: false }));
}

const frame = (first: string, second: string, ms: number, colour?: string) => ({
  rows: [rowOf(first, colour), rowOf(second)],
  cursor: { row: 1, column: 3 },
  ms,
});

it('shows each screen for its time, and only the last one to users who want less motion', () => {
  const svg = drawRecording([frame('one', '', 1000), frame('one', 'two', 3000)], LOOK);
  expect(svg).toContain('@keyframes film{0%{transform:translateX(0px)}25%{transform:translateX(-168px)}}');
  expect(svg).toContain('.film{transform:translateX(-168px)}');
  expect(svg).toContain('@media not (prefers-reduced-motion:reduce){.film{animation:film 4s steps(1,end) infinite}}');
  // A row that is shown twice is drawn once.
  expect(svg.match(/>one</g)).toHaveLength(1);
  expect(drawRecording([frame('one', '', 1000), frame('one', 'two', 3000)], LOOK)).toBe(svg);
});

it('takes no text of a screen for SVG, and no font or file from elsewhere', () => {
  const svg = drawRecording([frame('<script>&"', '', 1)], LOOK);
  expect(svg).toContain('>&lt;script&gt;&amp;&quot;</text>');
  expect(svg).toContain('<title id="t">A &lt;title&gt;</title>');
  expect(svg).not.toMatch(/<script|url\(|@import|href="[^#]/);
});

it('gives each run of cells its colour, its place and its width, whatever the font', () => {
  const row = rowOf('  ab漢', WHITE);
  // A wide character fills two cells.
  row[5] = { char: '', colour: WHITE, isBold: false, isInverse: false };
  row[2] = { char: 'a', colour: '#ff7b72', isBold: true, isInverse: false };
  row[7] = { char: ' ', colour: '#7ee787', isBold: false, isInverse: true };
  const svg = drawRecording([{ rows: [row], cursor: undefined, ms: 1 }], { ...LOOK, rows: 1 });
  expect(svg).toContain('<text x="16.8" y="13" fill="#ff7b72" font-weight="bold" textLength="8.4">a</text>');
  expect(svg).toContain('<text x="25.2" y="13" textLength="25.2">b漢</text>');
  expect(svg).toContain('<rect x="58.8" width="8.4" height="18" fill="#7ee787"/>');
});
