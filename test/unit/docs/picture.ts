import { DEFAULTS } from '../../../src/core/config/settings.ts';
import { formatSizeMb } from '../../../src/core/config/values/quantities.ts';
import type { CONTAINER_ROWS } from '../../../src/engines/capabilities/container-rows.ts';
import { DEFAULT_PRESETS, PRESETS } from '../../../src/network/gateway/rules/presets.ts';

// docs/what-goes-where.svg: rooms, what is in each and when, from the layers of containers, the limits and the presets.

/** A part of the picture: what is where, in one colour. */
interface Room {
  readonly title: string;
  readonly under: string;
  readonly lines: readonly string[];
  readonly fill: string;
}

interface Arrow {
  /** From the left edge of the picture's gap between two rooms, which it leads across. */
  readonly gap: 0 | 1 | 2;
  readonly text: string;
  readonly back?: true;
}

/** What happens at one time, from left to right. */
interface Step {
  readonly when: string;
  readonly what: string;
}

/** In words of the picture, by the container's part. */
const LAYERS: Readonly<Partial<Record<keyof typeof CONTAINER_ROWS, string>>> = {
  capabilities: 'no capability',
  seccomp: 'filtered system calls',
  'read-only-root': 'a read-only system',
  'no-network': 'no network',
};
const hosts = DEFAULT_PRESETS.flatMap((name) => PRESETS[name] ?? []).length;

const ROOMS: readonly Room[] = [
  {
    title: 'Your machine',
    under: 'the agent never runs here',
    lines: [
      'your project',
      'your home, ssh keys, other projects',
      'your login or API key',
      'records, and what undo needs',
    ],
    fill: '#e8f0fe',
  },
  {
    title: "The agent's container",
    under: Object.values(LAYERS).join(', '),
    lines: [
      'a copy of the project',
      'decoys in place of secrets that git does not track',
      'copies of Claude settings, without hooks',
      'a placeholder for the key',
      `${formatSizeMb(DEFAULTS.memoryMb)} memory, ${DEFAULTS.pids} processes`,
    ],
    fill: '#fde8e8',
  },
  {
    title: 'The gateway',
    under: 'a separate container, closed to the agent',
    lines: ['the key, in memory', 'the list of hosts', 'a log of every request'],
    fill: '#fef6dc',
  },
  {
    title: 'The network',
    under: 'everything else is refused',
    lines: ['the model provider', `${hosts} hosts of registries:`, DEFAULT_PRESETS.join(', '), 'hosts that you allow'],
    fill: '#e6f4ea',
  },
];

const ARROWS: readonly Arrow[] = [
  { gap: 0, text: 'copies' },
  { gap: 0, text: 'changes', back: true },
  { gap: 1, text: 'requests' },
  { gap: 2, text: 'with the key' },
];

const STEPS: readonly Step[] = [
  { when: '1. Before', what: 'You see what goes in, and say yes once a project.' },
  { when: '2. While it works', what: 'Your files do not change. The gateway refuses other hosts.' },
  { when: '3. When it has ended', what: 'Changes are frozen and audited: clean, suspect or blocked.' },
  { when: '4. You decide', what: 'By file or hunk. Blocked changes stay in the copy.' },
  { when: '5. After', what: 'Clean and accepted changes are applied. undo takes them back.' },
];

const ROOM_WIDTH = 250;
const GAP = 90;
const TOP = 20;
const ROOM_HEIGHT = 210;
const LINE = 22;
const MARGIN = 20;
const WIDTH = 2 * MARGIN + ROOMS.length * ROOM_WIDTH + (ROOMS.length - 1) * GAP;
const MAX_CHARACTERS = 34;

const xml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const leftOf = (room: number): number => MARGIN + room * (ROOM_WIDTH + GAP);

function words(text: string, limit: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < limit) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function drawRoom({ title, under, lines, fill }: Room, at: number): string {
  const x = leftOf(at);
  const rows = [
    `<text x="${x + 14}" y="${TOP + 28}" class="title">${xml(title)}</text>`,
    ...words(under, MAX_CHARACTERS + 5).map(
      (text, row) => `<text x="${x + 14}" y="${TOP + 48 + row * 16}" class="under">${xml(text)}</text>`,
    ),
  ];
  let y = TOP + 92;
  for (const line of lines)
    for (const [row, text] of words(line, MAX_CHARACTERS).entries()) {
      rows.push(`<text x="${x + (row === 0 ? 14 : 24)}" y="${y}">${row === 0 ? '• ' : ''}${xml(text)}</text>`);
      y += row === 0 ? LINE - 4 : LINE - 5;
    }
  return `<rect x="${x}" y="${TOP}" width="${ROOM_WIDTH}" height="${ROOM_HEIGHT}" rx="8" fill="${fill}" stroke="#666"/>\n${rows.join('\n')}`;
}

function drawArrow({ gap, text, back }: Arrow, at: number): string {
  const [from, to] = [leftOf(gap) + ROOM_WIDTH + 6, leftOf(gap + 1) - 6];
  const y = TOP + 70 + at * 60;
  const line = back === true ? `x1="${to}" x2="${from}"` : `x1="${from}" x2="${to}"`;
  return [
    `<line ${line} y1="${y}" y2="${y}" stroke="#333" stroke-width="1.5" marker-end="url(#head)"/>`,
    `<text x="${(from + to) / 2}" y="${y - 6}" class="arrow">${xml(text)}</text>`,
  ].join('\n');
}

function drawStep({ when, what }: Step, at: number): string {
  const width = (WIDTH - 2 * MARGIN) / STEPS.length;
  const x = MARGIN + at * width;
  const y = TOP + ROOM_HEIGHT + 40;
  const rows = words(what, 34).map((text, row) => `<text x="${x}" y="${y + 20 + row * 17}">${xml(text)}</text>`);
  return `<text x="${x}" y="${y}" class="when">${xml(when)}</text>\n${rows.join('\n')}`;
}

/** docs/what-goes-where.svg */
export function drawPicture(): string {
  const height = TOP + ROOM_HEIGHT + 110;
  const label = 'What goes where: your machine, the container of the agent, the gateway, the network; and when.';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${label}">`,
    '<!-- Written by npm run generate, from the layers, limits and presets of the source. -->',
    '<style>text{font:13px sans-serif;fill:#222}.title{font-size:16px;font-weight:bold}.under{font-size:12px;fill:#555}.arrow{text-anchor:middle;font-size:12px}.when{font-weight:bold}</style>',
    '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="#333"/></marker></defs>',
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    ...ROOMS.map(drawRoom),
    ...ARROWS.map((arrow) => drawArrow(arrow, ARROWS.filter(({ gap }) => gap === arrow.gap).indexOf(arrow))),
    ...STEPS.map(drawStep),
    '</svg>',
    '',
  ].join('\n');
}
