import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { Tell } from '../../core/types/event.ts';
import type { NetworkEntry } from '../../core/types/gateway.ts';
import { openDecoyLog } from './decoy-log.ts';
import { portOf } from './rules/suggest-rules.ts';

/** The agent can make entries as fast as it can connect. */
const MAX_LOG_BYTES = 16 * 1024 * 1024;
/** Part of that for connections that did not pass: a flood of them cannot hide one that did. */
const MAX_UNPASSED_BYTES = 8 * 1024 * 1024;
/**
 * Hosts with totals of their own, separately for those that passed and those that did not. Below an allowed wildcard the
 * agent can invent any number of names, and a flood of refused ones must not hide one that passed.
 */
const MAX_HOSTS = { refused: 1000, failed: 2000, passed: 4000 } as const;
/** Refusals that are shown to the user while the session runs. */
const MAX_SHOWN = 20;

/** The totals of one host, for the report. */
export interface HostTotal {
  readonly host: string;
  readonly port: number;
  readonly passed: number;
  readonly refused: number;
  readonly failed: number;
  readonly up: number;
  readonly down: number;
  /** The last reason of a refusal. */
  readonly why?: string;
  readonly quiet: boolean;
  readonly unlisted: boolean;
  /** Calls of tools of an MCP server that passed, by name. */
  readonly tools?: Readonly<Record<string, number>>;
}

/** Names of tools that are counted; a hostile agent may call as many as it likes. */
const MAX_TOOLS = 100;

function addTool(before: Readonly<Record<string, number>> = {}, tool: string): Readonly<Record<string, number>> {
  const isFull = Object.keys(before).length >= MAX_TOOLS && !Object.hasOwn(before, tool);
  const name = isFull ? '(others)' : tool;
  return { ...before, [name]: (Object.hasOwn(before, name) ? (before[name] ?? 0) : 0) + 1 };
}

/** Adds an entry to the totals of its host and port; past {@link MAX_HOSTS} to those of '(others)'. */
function addToTotals(totals: Map<string, HostTotal>, entry: NetworkEntry): HostTotal {
  const own = `${entry.host}:${entry.port}`;
  const full = totals.size >= MAX_HOSTS[entry.verdict] && !totals.has(own);
  const key = full ? '(others)' : own;
  const before = totals.get(key);
  const why = entry.verdict === 'refused' ? (entry.why ?? before?.why) : before?.why;
  const isCall = entry.verdict === 'passed' && entry.tool !== undefined;
  const tools = isCall ? addTool(before?.tools, String(entry.tool)) : before?.tools;
  const total: HostTotal = {
    host: full ? '(others)' : entry.host,
    port: full ? 0 : entry.port,
    passed: (before?.passed ?? 0) + (entry.verdict === 'passed' ? 1 : 0),
    refused: (before?.refused ?? 0) + (entry.verdict === 'refused' ? 1 : 0),
    failed: (before?.failed ?? 0) + (entry.verdict === 'failed' ? 1 : 0),
    up: (before?.up ?? 0) + entry.up,
    down: (before?.down ?? 0) + entry.down,
    quiet: (before?.quiet ?? true) && entry.quiet === true,
    unlisted: (before?.unlisted ?? false) || entry.unlisted === true,
    ...(why === undefined ? {} : { why }),
    ...(tools === undefined ? {} : { tools }),
  };
  totals.set(key, total);
  return total;
}

/** network.jsonl in the session's directory. */
export function networkLogFile(sessionDir: string): string {
  return path.join(sessionDir, 'network.jsonl');
}

export interface NetworkLog {
  readonly file: string;
  add(entry: NetworkEntry): void;
  totals(): readonly HostTotal[];
  close(): void;
}

/**
 * The session's network log: one JSON entry a line, bounded; the first refusal of each host is shown to the user.
 * @throws when the file cannot be opened: no session runs without its log.
 */
export function openNetworkLog(file: string, tell: Tell): NetworkLog {
  const descriptor = openSync(file, 'a', 0o600);
  const totals = new Map<string, HostTotal>();
  const decoys = openDecoyLog(path.dirname(file), tell);
  let bytes = 0;
  let unpassedBytes = 0;
  let open = true;
  const shown = new Set<string>();
  const showOnce = (entry: NetworkEntry): void => {
    // One rule allows both usual ports of a host.
    const what = `${entry.host}${portOf(entry.port)}`;
    if (shown.has(what) || shown.size > MAX_SHOWN) return;
    shown.add(what);
    tell(shown.size > MAX_SHOWN ? TOO_MANY : notice(entry));
  };
  return {
    file,
    add(entry) {
      const total = addToTotals(totals, entry);
      decoys.add(entry);
      // The decoy log reports a request with a decoy.
      const isShown = entry.verdict === 'refused' && entry.quiet !== true && entry.decoys === undefined;
      if (isShown && total.refused === 1) showOnce(entry);
      const line = `${JSON.stringify(entry)}\n`;
      const full = (): boolean =>
        bytes > MAX_LOG_BYTES || (entry.verdict !== 'passed' && unpassedBytes > MAX_UNPASSED_BYTES);
      if (!open || full()) return;
      bytes += line.length;
      if (entry.verdict !== 'passed') unpassedBytes += line.length;
      writeSync(descriptor, full() ? TRUNCATED : line);
    },
    totals: () => [...totals.values()],
    close() {
      if (open) closeSync(descriptor);
      open = false;
    },
  };
}

function notice(entry: NetworkEntry): Parameters<Tell>[0] {
  const where = entry.host === '' ? 'a request' : `${entry.host}:${entry.port}`;
  const why =
    entry.unlisted === true
      ? `. To allow it: run-claude network allow ${entry.host}${portOf(entry.port)}`
      : ` (${entry.why ?? ''})`;
  return { kind: 'message', level: 'warning', text: `network: refused ${where}${why}` };
}

/** Marks the place in the log's file from which entries are omitted. */
const TRUNCATED = '{"truncated":true}\n';

const TOO_MANY: Parameters<Tell>[0] = {
  kind: 'message',
  level: 'warning',
  text: 'network: more hosts are refused; run-claude network lists them',
};

/** Entries of a log file, oldest first; a line that is incomplete or not an entry is omitted. @throws when the file cannot be read. */
export function readNetworkLog(file: string): readonly NetworkEntry[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        const value = JSON.parse(line) as Partial<NetworkEntry>;
        return typeof value.host === 'string' && typeof value.verdict === 'string' ? [value as NetworkEntry] : [];
      } catch (error) {
        if (error instanceof SyntaxError) return [];
        throw error;
      }
    });
}

/** The totals of a session's requests, by host. Empty when there is no log. */
export function networkTotals(sessionDir: string): readonly HostTotal[] {
  const file = networkLogFile(sessionDir);
  const totals = new Map<string, HostTotal>();
  for (const entry of existsSync(file) ? readNetworkLog(file) : []) addToTotals(totals, entry);
  return [...totals.values()];
}
