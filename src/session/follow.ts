import { setTimeout as sleep } from 'node:timers/promises';
import { cleanLine } from '../terminal/clean.ts';
import { amount } from '../terminal/progress.ts';
import type { Engine } from '../types/engine.ts';
import type { Tell } from '../types/event.ts';
import type { SessionRecord } from '../types/session.ts';
import { type WorkspaceWatch, watchWorkspace } from '../workspace/open.ts';
import type { LiveChange } from '../workspace/workspace.ts';
import { ownerState, readRecord } from './record.ts';

export interface FollowOptions {
  readonly engine: Engine;
  readonly tell: Tell;
  readonly signal: AbortSignal;
  readonly write: (text: string) => void;
  readonly json: boolean;
  readonly wanted: (path: string) => boolean;
}

const EVERY_MS = 900;
/** A look at the layer may take this part of the time: idle stays cheap, a large layer is looked at less often. */
const SHARE = 30;
const CHANGES_MAX = 10_000;

/** Whether a command runs the session right now, and its agent has something to work on. */
export function isRunning(record: SessionRecord): boolean {
  return record.stage === 'running' && ownerState(record) === 'alive';
}

/** What a running session has changed so far, once. Throws RunClaudeError WORKSPACE_GONE, COLLECTOR_*. */
export async function liveNow(record: SessionRecord, engine: Engine, tell: Tell): Promise<readonly LiveChange[]> {
  const watch = await watchWorkspace({ plan: record.plan, engine, tell }, record.workspace);
  try {
    return await watch.live(CHANGES_MAX);
  } finally {
    await watch.close();
  }
}

/**
 * Prints each change of a running session as it appears, differs or goes away, one line each, until the session ends or
 * the signal fires. By a reader of its own: the session is not touched.
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
  let known = new Map<string, LiveChange>();
  let full = false;
  for (let running = true; running && !signal.aborted; ) {
    // Asked first, so that what was written before the end is still shown.
    running = isRunning(readRecord(record.plan.sessionDir) ?? record);
    const started = Date.now();
    const changes = (await watch.live(CHANGES_MAX)).filter(({ path }) => wanted(path) && !inGit(path));
    for (const line of linesOf(known, changes, json)) write(`${line}\n`);
    known = new Map(changes.map((change) => [change.path, change]));
    if (changes.length >= CHANGES_MAX && !full) {
      full = true;
      tell({ kind: 'message', level: 'warning', text: `Only the first ${CHANGES_MAX} changes are shown.` });
    }
    const pause = Math.max(EVERY_MS, SHARE * (Date.now() - started));
    if (running) await sleep(pause, undefined, { signal }).catch(() => undefined);
  }
}

/** Git's own bookkeeping is never applied, and is written all the time. */
function inGit(path: string): boolean {
  return path === '.git' || path.startsWith('.git/');
}

function linesOf(known: ReadonlyMap<string, LiveChange>, changes: readonly LiveChange[], json: boolean): string[] {
  const lines: string[] = [];
  const left = new Map(known);
  for (const change of changes) {
    const before = left.get(change.path);
    left.delete(change.path);
    const same = before !== undefined && before.kind === change.kind && before.stamp === change.stamp;
    if (!same) lines.push(json ? JSON.stringify(shown(change)) : textOf(change));
  }
  for (const gone of left.values()) {
    const change = { ...gone, kind: 'unchanged' as const, size: 0 };
    lines.push(json ? JSON.stringify(shown(change)) : textOf(change));
  }
  return lines;
}

type Shown = Omit<LiveChange, 'kind'> & { readonly kind: LiveChange['kind'] | 'unchanged' };

function shown({ path, kind, size }: Shown): object {
  return { at: new Date().toISOString(), path, kind, size };
}

function textOf({ path, kind, size }: Shown): string {
  const time = new Date().toTimeString().slice(0, 8);
  const bytes = kind === 'created' || kind === 'modified' ? ` (${amount(size, 'bytes')})` : '';
  return `${time}  ${kind.padEnd(10)}  ${cleanLine(path)}${bytes}`;
}
