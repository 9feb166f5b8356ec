import { durationText } from '../../core/text/when.ts';
import type { Tell } from '../../core/types/event.ts';
import type { UsageTotals } from '../../core/types/session.ts';
import { amount } from '../../terminal/progress.ts';
import type { LiveChange, LiveReader } from '../../workspace/view/workspace.ts';
import { scanPace } from './scan-pace.ts';

export interface ActivityLineOptions {
  readonly id: string;
  readonly tell: Tell;
  /** What went to the model so far. */
  readonly usage: () => Pick<UsageTotals, 'requests' | 'costUsd'> | undefined;
  /** The name of the tool that the model asked for last, which may be any text. */
  readonly lastTool: () => string | undefined;
  /** In copy mode: counts the changed files. */
  readonly changes: (() => Promise<LiveReader>) | undefined;
  readonly nowMs?: () => number;
}

export interface ActivityLine {
  /** Removes the line from the screen, where the agent is about to write `passed`. */
  beforeOutput(passed: Buffer): void;
  stop(): void;
}

/** A shorter run needs no line. */
const FIRST_MS = 3000;
const EVERY_MS = 1000;

/**
 * One line on the terminal of an agent that does not use the terminal itself (`-p`), replaced in place each second: how
 * long the agent runs, its cost, requests, last tool and file. The first line comes with the command that shows more.
 */
export function showActivityLine(options: ActivityLineOptions): ActivityLine {
  const { id, tell, usage, lastTool, nowMs = () => performance.now() } = options;
  const started = nowMs();
  let isStopped = false;
  let changed: ChangedFiles | undefined;
  let isLineStart = true;
  let isHinted = false;

  const draw = (): void => {
    // This line must not continue an unfinished line of the agent.
    if (!isLineStart) return;
    if (!isHinted && options.changes !== undefined)
      tell({
        kind: 'message',
        level: 'info',
        text: `To see its changes as they happen: run-claude diff --follow ${id}`,
      });
    isHinted = true;
    const { requests = 0, costUsd = 0 } = usage() ?? {};
    const text = activityText({
      elapsedMs: nowMs() - started,
      requests,
      costUsd,
      tool: lastTool(),
      files: changed?.count,
    });
    tell({ kind: 'status-line', text, ...(changed?.last === undefined ? {} : { file: changed.last }) });
  };
  const count = async (): Promise<void> => {
    if (options.changes === undefined) return;
    await delay(FIRST_MS);
    if (isStopped) return;
    const reader = await options.changes();
    const pace = scanPace(nowMs);
    while (!isStopped) {
      pace.startScan(true);
      const { changes } = await reader.look(false);
      const before = changed;
      changed = changedFiles(changes);
      await delay(pace.endScan(before?.count !== changed.count || before.last !== changed.last));
    }
  };
  // Where files cannot be counted, the line goes without their number.
  count().catch(() => undefined);
  let timer = setTimeout(() => {
    draw();
    timer = setInterval(draw, EVERY_MS).unref();
  }, FIRST_MS - EVERY_MS).unref();
  return {
    beforeOutput(passed) {
      tell({ kind: 'status-line' });
      isLineStart = passed.at(-1) === 0x0a;
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
      tell({ kind: 'status-line' });
    },
  };
}

/** Does not keep the process alive. */
function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref();
  });
}

interface ChangedFiles {
  readonly count: number;
  /** The path that was written last. */
  readonly last: string | undefined;
}

/** A stamp is a time in nanoseconds, and empty for what was deleted. */
function changedFiles(changes: readonly Pick<LiveChange, 'path' | 'stamp'>[]): ChangedFiles {
  let last: { readonly path: string; readonly stamp: bigint } | undefined;
  for (const { path, stamp } of changes) {
    const time = /^\d+$/.test(stamp) ? BigInt(stamp) : 0n;
    if (last === undefined || time >= last.stamp) last = { path, stamp: time };
  }
  return { count: changes.length, last: last?.path };
}

export interface Activity {
  readonly elapsedMs: number;
  readonly requests: number;
  readonly costUsd: number;
  readonly tool: string | undefined;
  readonly files: number | undefined;
}

/**
 * 'Running for 1 min 5 s, $0.12, 3 requests, Edit, 2 files': short, so that the file has room behind it. A cost of less
 * than a cent is not shown.
 */
export function activityText({ elapsedMs, requests, costUsd, tool, files }: Activity): string {
  return [
    `Running for ${durationText(elapsedMs)}`,
    ...(costUsd < 0.005 ? [] : [`$${costUsd.toFixed(2)}`]),
    `${requests} ${requests === 1 ? 'request' : 'requests'}`,
    ...(tool === undefined ? [] : [tool]),
    ...(files === undefined ? [] : [`${amount(files, 'files')}${files === 0 ? ' changed' : ''}`]),
  ].join(', ');
}
