import type { Container } from '../../types/engine.ts';
import type { Tell } from '../../types/event.ts';

/** How the agent ended. */
export interface AgentEnd {
  /** Exit status of its program. */
  readonly status: number;
  /** Why run-claude stopped it; undefined where it ended by itself. */
  readonly stopReason: string | undefined;
}

/** The run of an agent's container, in one of four states. */
type RunState =
  | { readonly kind: 'active' }
  | { readonly kind: 'stopping'; readonly reason: string }
  /** The gateway or the container did not start: the program must not run, or never did. */
  | { readonly kind: 'start-failed'; readonly error: Error }
  | { readonly kind: 'ended' };

/** Holds the state of a run and ends its container. */
export interface AgentRun {
  readonly state: RunState;
  /** Ends the agent with SIGTERM, then SIGKILL. Only the first reason counts. */
  stop(reason: string): void;
  /** Records why the program must not run; the first error counts. */
  failStart(error: Error): void;
  /** Sends SIGKILL. Does nothing to a container that does not run. */
  kill(): Promise<void>;
  /** No stop counts from here on. */
  end(): void;
}

/** How long the agent has to end by itself after SIGTERM. */
const GRACE_MS = 10_000;

/** The run of a container that has not started yet. */
export function openAgentRun(agent: Pick<Container, 'kill'>, tell: Tell): AgentRun {
  let state: RunState = { kind: 'active' };
  let graceTimer: NodeJS.Timeout | undefined;
  const kill = (): Promise<void> => agent.kill('SIGKILL').catch(() => undefined);
  return {
    get state() {
      return state;
    },
    stop(reason) {
      if (state.kind !== 'active') return;
      state = { kind: 'stopping', reason };
      tell({ kind: 'message', level: 'warning', text: `Stopping the agent: ${reason}` });
      agent.kill('SIGTERM').catch(() => undefined);
      // The agent may ignore SIGTERM.
      graceTimer = setTimeout(() => void kill(), GRACE_MS);
    },
    failStart(error) {
      if (state.kind === 'active' || state.kind === 'stopping') state = { kind: 'start-failed', error };
    },
    kill,
    end() {
      state = { kind: 'ended' };
      clearTimeout(graceTimer);
    },
  };
}
