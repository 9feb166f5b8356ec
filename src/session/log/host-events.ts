import { parseObject } from '../../core/text/json-in.ts';
import type { NetworkEntry } from '../../core/types/gateway.ts';
import type { HostEventKind, LogEvent } from '../../core/types/log-event.ts';
import type { CollectedRecord } from '../../core/types/session.ts';
import { shortened } from '../record/events/events-file.ts';

const KINDS: ReadonlySet<string> = new Set<HostEventKind>([
  'start',
  'cost',
  'files',
  'command',
  'limit',
  'end',
  'failed',
  'answer',
  'apply',
  'undo',
  'discard',
  'notify',
]);
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A line of `events.jsonl`; undefined for what is not an event, such as a line that was cut off. */
export function eventOfLine(line: string): LogEvent | undefined {
  const { at, kind, text } = parseObject(line) ?? {};
  if (!isTime(at) || typeof kind !== 'string' || !KINDS.has(kind) || typeof text !== 'string') return undefined;
  return { at, by: 'host', kind: kind as HostEventKind, text: shortened(text) };
}

/** A line of the network log. What every client asks by itself (`quiet`) is not an event. */
export function eventOfRequest(line: string): LogEvent | undefined {
  const entry = parseObject(line) as Partial<NetworkEntry> | undefined;
  if (entry === undefined || !isTime(entry.at) || entry.quiet === true) return undefined;
  const [verdict, method, host] = [entry.verdict, entry.method, entry.host].map((one) => shortened(String(one ?? '')));
  const port = typeof entry.port === 'number' ? entry.port : 0;
  const why = entry.why === undefined ? '' : ` (${String(entry.why)})`;
  const tool = entry.tool === undefined ? '' : `, tool ${String(entry.tool)}`;
  const text = shortened(`${verdict} ${method} ${host}:${port}${tool}${why}`);
  const facts = { verdict: verdict ?? '', method: method ?? '', host: host ?? '', port };
  return { at: entry.at, by: 'host', kind: 'network', text, facts };
}

/** The findings of a session's changes, at the time when they were collected. */
export function findingEvents({ findings }: Pick<CollectedRecord, 'findings'>, at: string): LogEvent[] {
  return findings.map(({ severity, rule, path, title }) => ({
    at,
    by: 'host',
    kind: 'finding',
    text: shortened(`${severity}: ${title}: ${path}`),
    facts: { severity, rule, path },
  }));
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && TIME.test(value);
}
