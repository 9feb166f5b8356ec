import type { AttachedTerminal } from '../../terminal/attach/attach.ts';
import type { Container } from '../../types/engine.ts';
import type { Tell } from '../../types/event.ts';
import type { Workspace } from '../../workspace/workspace.ts';

export interface GrowthOptions {
  /** Where a user sits and can decide; without it the agent is stopped. */
  readonly terminal: AttachedTerminal | undefined;
  readonly tell: Tell;
  readonly stop: (why: string) => void;
}

export interface GrowthWatch {
  /** Takes what the person types and gives what of it is the agent's: all of it, or nothing while it is paused. */
  keys(typed: Buffer): Buffer;
  stop(): void;
}

const CTRL_C = 0x03;
/** As before every question of ours: a key meant for the agent answers nothing. */
const SILENCE_MS = 500;
const NOTHING = Buffer.alloc(0);

/**
 * Holds the session to its disk limit. At a terminal the agent is paused and run-claude's screen replaces its own.
 * It goes on when space is free again or the user presses `c` (which allows twice as much); Ctrl-C stops it. Elsewhere
 * it is stopped, its work kept.
 */
export function watchGrowth(
  workspace: Pick<Workspace, 'watchDisk'>,
  agent: Pick<Container, 'pause' | 'unpause'>,
  { terminal, tell, stop }: GrowthOptions,
): GrowthWatch {
  let paused: { readonly why: string; readonly done: Promise<void> } | undefined;
  let lastKeyMs = 0;
  const say = (text: string): void => tell({ kind: 'message', level: 'warning', text });
  const goOn = (): void => {
    const was = paused;
    paused = undefined;
    if (was !== undefined) terminal?.showAgent();
    was?.done.then(() => agent.unpause()).catch((error: Error) => say(`The agent cannot go on: ${error.message}`));
  };
  const watch = workspace.watchDisk({
    reached(why) {
      if (terminal === undefined) return stop(why);
      lastKeyMs = performance.now();
      // An agent that cannot be paused must not go on filling the disk.
      const done = agent.pause().catch(() => {
        paused = undefined;
        terminal.showAgent();
        stop(why);
      });
      paused = { why, done };
      say(`The agent is paused: ${why}.`);
      terminal.showOver(pausedLines(why));
    },
    fell() {
      if (paused !== undefined) say('The agent goes on.');
      goOn();
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
        goOn();
        stop(why);
      } else if (typed.every((key) => key === 0x63)) {
        watch.allowMore();
        goOn();
        say('The agent goes on, with twice as much.');
      }
      return NOTHING;
    },
    stop: () => watch.stop(),
  };
}

function pausedLines(why: string): readonly string[] {
  return [
    '[sandbox] The agent is paused:',
    `          ${why}.`,
    '',
    '          c       go on, with twice as much',
    '          Ctrl-C  stop the agent and keep its work',
    '',
    '          It goes on by itself when there is room again.',
  ];
}
