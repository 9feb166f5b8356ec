import { EXIT, type StopSignal } from '../../core/errors.ts';

/** What decides the exit status of a session. */
export interface Ending {
  /** The signal that ended run-claude, or for which it stopped the session. */
  readonly interruptedBy?: StopSignal;
  /** run-claude itself failed, and ended the agent. */
  readonly hasFailed?: boolean;
  /** A time, cost, request or disk limit stopped the agent. */
  readonly limited: boolean;
  readonly conflicts: number;
  /** A decision was made (y, apply, --auto-apply; in bind mode always). */
  readonly decided: boolean;
  /** Number of changes that were held back: blocked, suspect, restored, a mass deletion. */
  readonly heldBack: number;
  /** --fail-on was given and a finding reaches it. */
  readonly failOn: boolean;
  /** A test of the session's result did not pass. */
  readonly testFailed: boolean;
  /** Number of pending changes. */
  readonly waiting: number;
  readonly agent: number;
}

/** From the most to the least important; the agent's own status comes last. */
const ORDER: readonly number[] = [
  EXIT.interrupted,
  EXIT.terminated,
  EXIT.failed,
  EXIT.limit,
  EXIT.conflict,
  EXIT.heldBack,
  EXIT.testFailed,
  EXIT.undecided,
];

/** The exit status of several sessions: that of the one that matters most. Of the agents' own, a failure matters more. */
export function sharedStatus(statuses: readonly number[]): number {
  const rank = (status: number): number =>
    ORDER.includes(status) ? ORDER.indexOf(status) : ORDER.length + (status === EXIT.ok ? 1 : 0);
  return statuses.toSorted((a, b) => rank(a) - rank(b))[0] ?? EXIT.ok;
}

/** The status of the first condition that holds, in the documented order: scripts rely on it. */
export function exitStatus(ending: Ending): number {
  if (ending.interruptedBy === 'SIGINT') return EXIT.interrupted;
  if (ending.interruptedBy !== undefined) return EXIT.terminated;
  if (ending.hasFailed === true) return EXIT.failed;
  if (ending.limited) return EXIT.limit;
  if (ending.conflicts > 0) return EXIT.conflict;
  if ((ending.decided && ending.heldBack > 0) || ending.failOn) return EXIT.heldBack;
  if (ending.testFailed) return EXIT.testFailed;
  if (!ending.decided && ending.waiting > 0) return EXIT.undecided;
  return ending.agent;
}
