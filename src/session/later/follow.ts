import { setTimeout as sleep } from 'node:timers/promises';
import { jsonLine } from '../../core/report/json.ts';
import { clockText } from '../../core/text/when.ts';
import type { WithheldGroup } from '../../core/types/entry.ts';
import type { Tell } from '../../core/types/event.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { ignoredAmount } from '../../review/screen/summary.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { amount } from '../../terminal/progress.ts';
import { type WorkspaceWatch, watchWorkspace } from '../../workspace/view/open.ts';
import type { LiveChange, LiveChanges } from '../../workspace/view/workspace.ts';
import { scanPace } from '../launch/scan-pace.ts';
import { isRunning, readRecord } from '../record/session.ts';

export interface FollowOptions {
  readonly engine: Runtime;
  readonly tell: Tell;
  readonly signal: AbortSignal;
  readonly write: (text: string) => void;
  readonly json: boolean;
  readonly wanted: (path: string) => boolean;
}

const MAX_SHOWN_CHANGES = 10_000;

/** What a running session has changed so far. @throws {RunClaudeError} WORKSPACE_GONE, COLLECTOR_*. */
export async function readLiveChanges(record: SessionRecord, engine: Runtime, tell: Tell): Promise<LiveChanges> {
  const watch = await watchWorkspace({ plan: record.plan, engine, tell }, record.workspace);
  try {
    return await watch.look(true);
  } finally {
    await watch.close();
  }
}

/**
 * Prints a line for each change of a running session as it appears, differs or is undone, until the session ends or the
 * signal fires. It uses its own reader and does not touch the session.
 */
export async function followSession(record: SessionRecord, options: FollowOptions): Promise<void> {
  const { engine, tell, signal } = options;
  const watch = await watchWorkspace({ plan: record.plan, engine, tell }, record.workspace);
  try {
    await followWith(watch, record, options);
  } finally {
    await watch.close();
  }
  if (!signal.aborted) tell({ kind: 'message', level: 'info', text: `Session ${record.id} has ended.` });
}

async function followWith(watch: WorkspaceWatch, record: SessionRecord, options: FollowOptions): Promise<void> {
  const { signal, wanted, json, write, tell } = options;
  const pace = scanPace(() => Date.now());
  let known: ReadonlyMap<string, LiveChange> = new Map();
  let counted: ReadonlyMap<string, WithheldGroup> = new Map();
  let isCut = false;
  for (let isFollowed = true; isFollowed && !signal.aborted; ) {
    // Read before the scan, so that changes from just before the end are still shown.
    isFollowed = isRunning(readRecord(record.plan.sessionDir) ?? record);
    const isCounting = pace.startScan(isFollowed);
    const scan = await watch.look(isCounting);
    const all = scan.changes.filter(({ path }) => wanted(path));
    const changes = all.slice(0, MAX_SHOWN_CHANGES);
    const groups = scan.ignored.filter(({ directory }) => wanted(directory));
    const lines = [...linesOf(known, changes, all.length > changes.length), ...groupLinesOf(counted, groups)];
    for (const line of lines) write(json ? jsonLine(shown(line)) : `${followLine(line)}\n`);
    known = new Map(changes.map((change) => [change.path, change]));
    counted = new Map(groups.map((group) => [group.directory, group]));
    if (all.length > changes.length && !isCut) {
      isCut = true;
      tell({ kind: 'message', level: 'warning', text: `Only the first ${MAX_SHOWN_CHANGES} changes are shown.` });
    }
    const pause = pace.endScan(lines.length > 0);
    if (isFollowed) await sleep(pause, undefined, { signal }).catch(() => undefined);
  }
}

/** Lines for what differs from `known`. With `isCut`, changes after the last one are not known. */
function linesOf(known: ReadonlyMap<string, LiveChange>, changes: readonly LiveChange[], isCut: boolean): Line[] {
  const lines: Line[] = [];
  const rest = new Map(known);
  for (const change of changes) {
    const before = rest.get(change.path);
    rest.delete(change.path);
    const isSame = before !== undefined && before.kind === change.kind && before.stamp === change.stamp;
    if (!isSame) lines.push(change);
  }
  const last = isCut ? changes.at(-1)?.path : undefined;
  for (const { path } of rest.values()) {
    if (last === undefined || path < last) lines.push({ path, kind: 'unchanged', size: 0 });
  }
  return lines;
}

function groupLinesOf(known: ReadonlyMap<string, WithheldGroup>, groups: readonly WithheldGroup[]): Line[] {
  return groups.flatMap(({ directory: path, entries, bytes: size }) => {
    const before = known.get(path);
    const isSame = before !== undefined && before.entries === entries && before.bytes === size;
    return isSame ? [] : [{ path, kind: 'ignored' as const, size, entries }];
  });
}

interface Line {
  readonly path: string;
  readonly kind: LiveChange['kind'] | 'unchanged' | 'ignored';
  readonly size: number;
  /** Number of entries of ignored output. */
  readonly entries?: number;
}

function shown({ path, kind, size, entries }: Line): object {
  return { at: new Date().toISOString(), path, kind, size, ...(entries === undefined ? {} : { entries }) };
}

function followLine({ path, kind, size, entries }: Line): string {
  const time = clockText(new Date());
  const bytes = kind === 'created' || kind === 'modified' ? ` (${amount(size, 'bytes')})` : '';
  const count = entries === undefined ? '' : ` (${ignoredAmount(entries, size)})`;
  return `${time}  ${kind.padEnd(10)}  ${cleanLine(path)}${bytes}${count}`;
}
