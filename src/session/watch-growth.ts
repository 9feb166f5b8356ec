import type { Container } from '../types/engine.ts';
import type { Tell } from '../types/event.ts';
import type { Workspace } from '../workspace/workspace.ts';

export interface GrowthOptions {
  /** A person sits at the agent's terminal and can decide; otherwise the agent is stopped. */
  readonly tty: boolean;
  readonly tell: Tell;
  readonly stop: (why: string) => void;
  /** Where that person's keys come from; process.stdin. */
  readonly keys?: NodeJS.ReadStream;
}

const CTRL_C = 0x03;

/**
 * Holds the session to its disk limit. At a terminal the agent is paused, and goes on when space is free again or the
 * person presses `c` (which allows twice as much); Ctrl-C stops it. Elsewhere it is stopped, its work kept.
 */
export function watchGrowth(
  workspace: Workspace,
  agent: Pick<Container, 'pause' | 'unpause'>,
  options: GrowthOptions,
): { stop(): void } {
  const { tty, tell, stop } = options;
  const keys = options.keys ?? process.stdin;
  let paused: string | undefined;
  const say = (text: string): void => tell({ kind: 'message', level: 'warning', text });
  const goOn = (): void => {
    if (paused === undefined) return;
    paused = undefined;
    keys.off('data', onKey);
    agent.unpause().catch((error: Error) => say(`The agent cannot go on: ${error.message}`));
  };
  const onKey = (chunk: Buffer): void => {
    const why = paused;
    if (why === undefined) return;
    if (chunk.includes(CTRL_C)) {
      goOn();
      stop(why);
    } else if (chunk.includes('c')) {
      watch.allowMore();
      goOn();
    }
  };
  const watch = workspace.watchDisk({
    reached(why) {
      if (!tty) return stop(why);
      paused = why;
      // An agent that cannot be paused must not go on filling the disk.
      agent.pause().catch(() => stop(why));
      keys.on('data', onKey);
      say(`The agent is paused: ${why}. It goes on when there is room; c: go on, with twice as much; Ctrl-C: stop it`);
    },
    fell() {
      if (paused !== undefined) say('The agent goes on.');
      goOn();
    },
  });
  return {
    stop() {
      watch.stop();
      keys.off('data', onKey);
    },
  };
}
