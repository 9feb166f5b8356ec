import type { Tell } from '../../core/types/event.ts';
import { openPinnedLines } from '../../terminal/pinned-lines.ts';
import { boardLines, endedLine, promptText } from './batch-lines.ts';
import { shownTask, type TaskState } from './task-state.ts';

/** What the user sees of a batch while it runs. */
export interface BatchScreen {
  begin(states: readonly TaskState[]): void;
  started(state: TaskState): void;
  /** A task that runs came further. */
  changed(): void;
  ended(state: TaskState): void;
  end(): void;
}

export interface ScreenOptions {
  readonly stderr: NodeJS.WriteStream;
  readonly tell: Tell;
  readonly isQuiet: boolean;
  /** Steps are printed between the lines, which could not be redrawn. */
  readonly isTraced: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly isOneProject: boolean;
}

/** Times are seconds, and a progress event comes more often. */
const DRAW_EVERY_MS = 500;
const PREFIX_COLUMNS = 10;

/** On a terminal, lines that are redrawn below those of the ended tasks; elsewhere a line for each start and end. */
export function openBatchScreen({ stderr, tell, isQuiet, isTraced, env, isOneProject }: ScreenOptions): BatchScreen {
  const hasBoard = stderr.isTTY === true && (env['TERM'] ?? 'dumb') !== 'dumb' && !isQuiet && !isTraced;
  const board = openPinnedLines({
    write: (text) => stderr.write(text),
    columns: () => stderr.columns ?? 80,
    rows: () => stderr.rows ?? 24,
  });
  const columns = (): number => (hasBoard ? (stderr.columns ?? 80) - PREFIX_COLUMNS : Number.POSITIVE_INFINITY);
  let all: readonly TaskState[] = [];
  let timer: NodeJS.Timeout | undefined;
  let lastMs = 0;
  const draw = (): void => {
    if (!hasBoard) return;
    lastMs = Date.now();
    const running = all.filter((one) => one.running !== undefined).map((one) => shownTask(one, isOneProject));
    const ended = all.filter(({ record, running: now }) => record?.result !== undefined && now === undefined);
    const counts = {
      total: all.length,
      ended: ended.length,
      failed: ended.filter(({ record }) => record?.result === 'failed').length,
      costUsd: ended.reduce((sum, { record }) => sum + (record?.shown?.costUsd ?? 0), 0),
    };
    board.draw(boardLines(running, counts, (stderr.columns ?? 80) - 1));
  };
  const print = (text: string, level: 'info' | 'warning'): void => {
    board.clear();
    tell({ kind: 'message', level, text });
    draw();
  };
  return {
    begin(states) {
      all = states;
      if (!hasBoard) return;
      draw();
      timer = setInterval(draw, DRAW_EVERY_MS);
      // After Ctrl-Z the shell printed below the lines.
      process.on('SIGCONT', board.leave);
    },
    started({ line }) {
      if (hasBoard) draw();
      else print(`Task ${line.task.line} starts: ${promptText(line.task.prompt, columns())}`, 'info');
    },
    changed() {
      if (Date.now() - lastMs >= DRAW_EVERY_MS) draw();
    },
    ended(state) {
      print(endedLine(shownTask(state, isOneProject), columns()), 'info');
    },
    end() {
      clearInterval(timer);
      process.off('SIGCONT', board.leave);
      board.clear();
    },
  };
}
