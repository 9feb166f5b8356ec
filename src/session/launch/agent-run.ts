import type { Container } from '../../core/types/engine.ts';
import type { Tell } from '../../core/types/event.ts';

/** How the agent ended. */
export interface AgentEnd {
  /** Exit status of its program. */
  readonly status: number;
  /** Why run-claude stopped it; undefined where it ended by itself. */
  readonly stopReason: string | undefined;
  /** What the agent must not run without failed while it ran: to be thrown when the session's changes are kept. */
  readonly failure?: Error;
  /** It ended before this command began: its tests do not decide how this command ends. */
  readonly isEarlier?: true;
}

/** The run of an agent's container, in one of four states. */
type RunState =
  | { readonly kind: 'active' }
  | { readonly kind: 'stopping'; readonly reason: string; readonly failure?: Error }
  /** The gateway or the container did not start, or a mask was lost before, so the program never runs. */
  | { readonly kind: 'start-failed'; readonly error: Error }
  | { readonly kind: 'ended' };

/** Holds the state of a run and ends its container. */
export interface AgentRun {
  readonly state: RunState;
  /**
   * To be called right before the container starts: from then on its program may run.
   *
   * @throws the error of a start that failed before.
   */
  begin(): void;
  /** Ends the agent with SIGTERM, then SIGKILL. Only the first reason counts. */
  stop(reason: string): void;
  /** As {@link stop}, with SIGKILL at once. */
  stopAtOnce(reason: string): void;
  /** Records why the program never ran; the first error counts. */
  failStart(error: Error): void;
  /** Something that the agent must not run without failed: ends it at once, or keeps it from starting. */
  failAtOnce(error: Error): void;
  /** Sends SIGKILL where the agent was to be stopped before its container ran, when a signal had no effect yet. */
  killIfStopping(): Promise<void>;
  /** No stop counts from here on. */
  end(): void;
}

/** How long the agent has to end by itself after SIGTERM. */
const GRACE_MS = 10_000;

/** The run of a container that has not started yet. */
export function openAgentRun(agent: Pick<Container, 'kill'>, tell: Tell): AgentRun {
  let state: RunState = { kind: 'active' };
  let graceTimer: NodeJS.Timeout | undefined;
  let hasBegun = false;
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
    stopAtOnce(reason) {
      this.stop(reason);
      if (state.kind === 'stopping') void kill();
    },
    begin() {
      if (state.kind === 'start-failed') throw state.error;
      hasBegun = true;
    },
    failStart(error) {
      // A container that was killed for the gateway fails with its own error.
      if (state.kind === 'stopping') state = { kind: 'start-failed', error: state.failure ?? error };
      else if (state.kind === 'active') state = { kind: 'start-failed', error };
    },
    failAtOnce(error) {
      if (!hasBegun) this.failStart(error);
      if (state.kind !== 'active') return;
      state = { kind: 'stopping', reason: error.message, failure: error };
      tell({ kind: 'message', level: 'warning', text: `Stopping the agent: ${error.message}` });
      void kill();
    },
    async killIfStopping() {
      if (state.kind === 'stopping') await kill();
    },
    end() {
      state = { kind: 'ended' };
      clearTimeout(graceTimer);
    },
  };
}
