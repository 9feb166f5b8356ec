import { clockText } from '../../core/text/when.ts';
import { shortPath } from '../../review/screen/summary.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { cutEnd, cutStart, widthOf } from '../../terminal/columns/width.ts';
import { costLine } from './activity.ts';
import type { SessionRow } from './session-row.ts';

/** What the overview shows besides the sessions. */
export interface TopState {
  readonly rows: readonly SessionRow[];
  /** Index of the marked row. */
  readonly marked: number;
  /** Number of all sessions that match, of which `rows` is one screen. */
  readonly total: number;
  readonly running: number;
  /** What is typed behind '/'; undefined: nothing is being typed. */
  readonly typing: string | undefined;
  readonly filter: string;
  /** One line above the keys: a question, or what a key did. */
  readonly message: string;
}

export interface TopLayout {
  readonly columns: number;
  readonly rows: number;
  readonly colour: boolean;
  readonly home: string;
  readonly nowMs: number;
}

const HEAD = ['session', 'agent', 'state', 'age', 'files', 'cost', 'network'] as const;
const WIDTHS = [17, 8, 15, 11, 5, 8, 7] as const;
/** From this one on numbers are at the right. */
const FIRST_NUMBER = 4;
const KEYS = 'Enter attach or review  l log  d diff  s stop  / filter  a all  q quit';
/** Lines around the list: title, head, rule, details, message, keys. */
const DETAIL_LINES = 6;
const FRAME_LINES = 5 + DETAIL_LINES;
/** Without the rule and the details. */
const SHORT_FRAME_LINES = 4;

/** A terminal of fewer lines has a list alone. */
const hasDetails = (rows: number): boolean => rows > FRAME_LINES;

/** Number of sessions that a terminal of so many lines shows. */
export const listRows = (rows: number): number =>
  Math.max(1, rows - (hasDetails(rows) ? FRAME_LINES : SHORT_FRAME_LINES));

/**
 * One screen, a line each. Cleaned, as wide as the terminal at most, and as high: one line more would scroll the list
 * away. Pure.
 */
export function topFrame(state: TopState, layout: TopLayout): readonly string[] {
  const { columns, rows, colour } = layout;
  const { running, total, filter, typing, message } = state;
  const style = (code: string, text: string): string => (colour && text !== '' ? `\x1b[${code}m${text}\x1b[0m` : text);
  const cut = (text: string): string => cutEnd(text, columns);
  const filtered = filter === '' ? '' : `, filter: ${filter}`;
  const list = state.rows.map((row, at) => {
    const text = cut(`${at === state.marked ? '> ' : '  '}${cellsText(cellsOf(row))}`);
    return at === state.marked ? style('7', text.padEnd(columns)) : style(stateStyle(row), text);
  });
  const empty = total === 0 ? ['', cut('  No session is running or pending. a: all sessions')] : [];
  const shown = [...empty, ...list].slice(0, listRows(rows));
  const filling = new Array<string>(Math.max(0, listRows(rows) - shown.length)).fill('');
  const row = state.rows[state.marked];
  const noDetails = new Array<string>(DETAIL_LINES).fill('');
  const details = [style('2', '─'.repeat(columns)), ...(row === undefined ? noDetails : detailLines(row, layout))];
  const lines = [
    style(
      '1',
      cut(`run-claude top: ${total} ${total === 1 ? 'session' : 'sessions'}, ${running} running${cleanLine(filtered)}`),
    ),
    style('2', cut(`  ${cellsText([...HEAD])}`)),
    ...shown,
    ...filling,
    ...(hasDetails(rows) ? details : []),
    cut(typing === undefined ? message : `/${cleanLine(typing)}`),
    style('2', cut(KEYS)),
  ];
  // A question stays, whatever else has no room.
  return lines.slice(-rows);
}

function cellsOf({ id, agent, state, age, files, cost, network }: SessionRow): readonly string[] {
  return [id, agent, state, age, files, cost, network].map(cleanLine);
}

function cellsText(cells: readonly string[]): string {
  return cells
    .map((cell, at) => {
      const width = WIDTHS[at] ?? 0;
      const text = cutEnd(cell, width);
      const blanks = ' '.repeat(width - widthOf(text));
      return at < FIRST_NUMBER ? text + blanks : blanks + text;
    })
    .join(' ')
    .trimEnd();
}

/** Attention, work, and the rest. */
function stateStyle({ state, isRunning }: SessionRow): string {
  if (state === 'asks you') return '1;33';
  return isRunning ? '32' : '0';
}

/** What the marked session is, and its latest events. */
function detailLines(row: SessionRow, { columns, home, nowMs }: TopLayout): readonly string[] {
  const spent = costLine(row.activity.costs, nowMs, 30);
  const lines = [
    cutStart(cleanLine(shortPath(row.project, home)), columns),
    cleanLine(row.what),
    ...(spent === '' ? [] : [`cost over time  ${spent}`]),
  ];
  const events = row.activity.recent.slice(lines.length - DETAIL_LINES).map(({ at, by, kind, text }) => {
    const claimed = by === 'agent' ? ' (claimed)' : '';
    return `${clockText(new Date(at))}  ${kind}${claimed}  ${cleanLine(text)}`;
  });
  const all = [...lines, ...events].map((line) => cutEnd(line, columns));
  return [...all, ...new Array<string>(Math.max(0, DETAIL_LINES - all.length)).fill('')].slice(0, DETAIL_LINES);
}
