import { jsonLine } from '../../core/report/json.ts';
import type { LogEvent } from '../../core/types/log-event.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { cutEnd } from '../../terminal/columns/width.ts';

/** Of a line that is not on a terminal. */
const MAX_LINE_COLUMNS = 600;
const KIND_COLUMNS = 7;

/**
 * One event as one line: '11-21 14:03:12  network  refused CONNECT example.com:443'. What the agent's transcript says is
 * marked in the second column, and nothing in its text can begin another line or reach beyond the width of the terminal.
 */
export function logLine(event: LogEvent, columns: number): string {
  const [kind, text] = event.by === 'agent' ? ['claimed', `${event.kind}: ${event.text}`] : [event.kind, event.text];
  const words = cleanLine(text.trim().replace(/[ \t\r\n]+/g, ' '));
  return cutEnd(`${timeText(event.at)}  ${kind.padEnd(KIND_COLUMNS)}  ${words}`, Math.min(columns, MAX_LINE_COLUMNS));
}

/** One event as a line of JSON, with its end. */
export function logJson({ by, at, kind, text, ...more }: LogEvent): string {
  const facts = 'facts' in more ? more.facts : {};
  return jsonLine({ at, by, kind, text, ...facts });
}

function timeText(iso: string): string {
  const at = new Date(iso);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}
