import { amount } from '../../terminal/progress.ts';
import type { Tell } from '../../types/event.ts';
import type { LiveReader } from '../../workspace/live.ts';
import { lookPace } from './look-pace.ts';

export interface SignOfLifeOptions {
  readonly id: string;
  readonly tell: Tell;
  /** To the model, so far. */
  readonly requests: () => number | undefined;
  /** Of a copy: counts the changed files. */
  readonly changes: (() => Promise<LiveReader>) | undefined;
  readonly nowMs?: () => number;
}

export interface SignOfLife {
  /** Takes the line off the screen: the agent writes there. */
  beforeOutput(passed: Buffer): void;
  stop(): void;
}

/** A run that is over by then needs no line. */
const FIRST_MS = 3000;
const EVERY_MS = 1000;

/**
 * One line on the terminal of an agent that has none of its own (`-p`), replaced in place each second: how long it runs,
 * its requests, the files that it changed. The first time it comes with the command that shows more.
 */
export function showSignOfLife(options: SignOfLifeOptions): SignOfLife {
  const { id, tell, requests, nowMs = () => performance.now() } = options;
  const started = nowMs();
  let over = false;
  let files: number | undefined;
  let isLineStart = true;
  let isHinted = false;

  const draw = (): void => {
    // A line of the agent that has not ended must not be continued by this one.
    if (!isLineStart) return;
    if (!isHinted && options.changes !== undefined)
      tell({
        kind: 'message',
        level: 'info',
        text: `To see its changes as they happen: run-claude diff --follow ${id}`,
      });
    isHinted = true;
    tell({ kind: 'status-line', text: lifeLine(nowMs() - started, requests() ?? 0, files) });
  };
  const count = async (): Promise<void> => {
    if (options.changes === undefined) return;
    await delay(FIRST_MS);
    if (over) return;
    const reader = await options.changes();
    const pace = lookPace(nowMs);
    while (!over) {
      pace.begin(true);
      const { changes } = await reader.look(false);
      const isChanged = files !== changes.length;
      files = changes.length;
      await delay(pace.end(isChanged));
    }
  };
  // The line does without a number that cannot be had.
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
      over = true;
      clearTimeout(timer);
      tell({ kind: 'status-line' });
    },
  };
}

/** Keeps no process from ending. */
function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref();
  });
}

/** 'Running for 1 min 5 s, 3 requests, 2 files changed'. */
export function lifeLine(elapsedMs: number, requests: number, files: number | undefined): string {
  const seconds = Math.floor(elapsedMs / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const time =
    hours > 0 ? `${hours} h ${minutes} min` : minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
  const asked = `${requests} ${requests === 1 ? 'request' : 'requests'}`;
  return `Running for ${time}, ${asked}${files === undefined ? '' : `, ${amount(files, 'files')} changed`}`;
}
