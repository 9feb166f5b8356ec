import { amount } from '../../terminal/progress.ts';
import type { Tell } from '../../types/event.ts';
import type { LiveReader } from '../../workspace/live.ts';
import { scanPace } from './scan-pace.ts';

export interface ActivityLineOptions {
  readonly id: string;
  readonly tell: Tell;
  /** How many requests went to the model so far. */
  readonly requests: () => number | undefined;
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
 * long the agent runs, its requests, the files that it changed. The first line comes with the command that shows more.
 */
export function showActivityLine(options: ActivityLineOptions): ActivityLine {
  const { id, tell, requests, nowMs = () => performance.now() } = options;
  const started = nowMs();
  let isStopped = false;
  let files: number | undefined;
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
    tell({ kind: 'status-line', text: activityText(nowMs() - started, requests() ?? 0, files) });
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
      const isChanged = files !== changes.length;
      files = changes.length;
      await delay(pace.endScan(isChanged));
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

/** 'Running for 1 min 5 s, 3 requests, 2 files changed'. */
export function activityText(elapsedMs: number, requests: number, files: number | undefined): string {
  const seconds = Math.floor(elapsedMs / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const time =
    hours > 0 ? `${hours} h ${minutes} min` : minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
  const requestCount = `${requests} ${requests === 1 ? 'request' : 'requests'}`;
  return `Running for ${time}, ${requestCount}${files === undefined ? '' : `, ${amount(files, 'files')} changed`}`;
}
