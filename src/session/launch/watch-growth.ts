import type { Container } from '../../core/types/engine.ts';
import type { Tell } from '../../core/types/event.ts';
import type { AttachedTerminal } from '../../terminal/attach/attach.ts';
import { PREFIX } from '../../terminal/screen.ts';
import type { Workspace } from '../../workspace/view/workspace.ts';

export interface GrowthOptions {
  /** Where a user sits and can decide; without it the agent is stopped. */
  readonly terminal: () => AttachedTerminal | undefined;
  readonly tell: Tell;
  /** Called when the agent is paused until the user decides. */
  readonly onQuestion?: () => void;
  readonly stop: (why: string) => void;
  /** Ends the agent without time to end by itself: in that time it would go on writing. */
  readonly stopAtOnce: (why: string) => void;
}

export interface GrowthWatch {
  /** Takes what the user types. Returns what of it is for the agent: all, or nothing while the agent is paused. */
  keys(typed: Buffer): Buffer;
  stop(): void;
}

const CTRL_C = 0x03;
/** As before every question of run-claude: a key that was typed for the agent answers nothing. */
const SILENCE_MS = 500;
const NOTHING = Buffer.alloc(0);

/**
 * Holds the session to its disk limit. On a terminal the agent is paused and run-claude's screen replaces the agent's.
 * The agent continues when space is free again, or when the user presses `c`, which doubles the limit; Ctrl-C stops it.
 * Without a terminal the agent is stopped at once and its work kept.
 */
export function watchGrowth(
  workspace: Pick<Workspace, 'watchDisk'>,
  agent: Pick<Container, 'pause' | 'unpause'>,
  { terminal: terminalNow, tell, onQuestion, stop, stopAtOnce }: GrowthOptions,
): GrowthWatch {
  let paused: { readonly why: string; readonly done: Promise<void> } | undefined;
  let lastKeyMs = 0;
  const warn = (text: string): void => tell({ kind: 'message', level: 'warning', text });
  const resume = (): void => {
    const pause = paused;
    paused = undefined;
    if (pause !== undefined) terminalNow()?.showAgent();
    pause?.done
      .then(() => agent.unpause?.())
      .catch((error: Error) => warn(`The agent cannot continue: ${error.message}`));
  };
  const watch = workspace.watchDisk({
    reached(why) {
      const terminal = terminalNow();
      if (terminal === undefined) return stopAtOnce(why);
      lastKeyMs = performance.now();
      // An agent that cannot be paused must not go on filling the disk.
      if (agent.pause === undefined) return stopAtOnce(why);
      const done = agent.pause().catch(() => {
        paused = undefined;
        terminal.showAgent();
        stopAtOnce(why);
      });
      paused = { why, done };
      warn(`The agent is paused: ${why}.`);
      terminal.showOver(pausedLines(why));
      onQuestion?.();
    },
    fell() {
      if (paused !== undefined) warn('The agent continues.');
      resume();
    },
  });
  return {
    keys(typed) {
      if (paused === undefined) return typed;
      const { why } = paused;
      const silentMs = performance.now() - lastKeyMs;
      lastKeyMs = performance.now();
      if (silentMs < SILENCE_MS) return NOTHING;
      if (typed.includes(CTRL_C)) {
        resume();
        stop(why);
      } else if (typed.every((key) => key === 0x63)) {
        watch.allowMore();
        resume();
        warn('The agent continues, with twice the limit.');
      }
      return NOTHING;
    },
    stop: () => watch.stop(),
  };
}

function pausedLines(why: string): readonly string[] {
  return [
    `${PREFIX}The agent is paused:`,
    ...[
      `${why}.`,
      '',
      'c       continue, with twice the limit',
      'Ctrl-C  stop the agent and keep its work',
      '',
      'The agent continues by itself when there is room again.',
    ].map((line) => (line === '' ? '' : `${' '.repeat(PREFIX.length)}${line}`)),
  ];
}
