import type { Stage } from '../types/session.ts';

/**
 * What a command without an id needs of a session. look: status and diff. decide: apply, discard, commits. undo: undo.
 * layer: resume and explore. follow: diff --follow. log: log, which a session that failed has too. any: all other commands.
 */
export type Purpose = 'look' | 'decide' | 'undo' | 'layer' | 'follow' | 'log' | 'any';

/** The facts of a session by which one is picked. */
export interface SessionCandidate {
  readonly stage: Stage;
  /** ISO 8601. */
  readonly started: string;
  /** A command is running it. */
  readonly isOwned: boolean;
  /** When its last apply was, if it can be undone; ISO 8601. */
  readonly appliedAt: string | undefined;
  /** Its working copy still exists. */
  readonly hasLayer: boolean;
}

export interface Picked<T> {
  readonly session: T;
  /** Other sessions with pending changes, the most recent first. */
  readonly alsoPending: readonly T[];
}

const UNDER_WAY: readonly Stage[] = ['planned', 'running', 'ended'];

/**
 * The session that a command means, of those of one project: the most recent that fits its purpose, otherwise the most
 * recent that did not fail before it held anything. Undefined when there is none. Pure.
 */
export function pickSession<T extends SessionCandidate>(
  candidates: readonly T[],
  purpose: Purpose,
): Picked<T> | undefined {
  const newestFirst = [...candidates].sort((a, b) => (a.started < b.started ? 1 : -1));
  const fitting = newestFirst.filter((one) => FITS[purpose](one));
  const session = first(purpose, fitting) ?? newestFirst.find(({ stage }) => stage !== 'failed') ?? newestFirst[0];
  if (session === undefined) return undefined;
  return { session, alsoPending: newestFirst.filter((one) => one !== session && isPending(one)) };
}

/** An undo means the last apply of the project, whichever session it was of. */
function first<T extends SessionCandidate>(purpose: Purpose, fitting: readonly T[]): T | undefined {
  if (purpose !== 'undo') return fitting[0];
  return [...fitting].sort((a, b) => (b.appliedAt ?? '').localeCompare(a.appliedAt ?? ''))[0];
}

/** It has pending changes, or its command was killed and the next command collects them. */
function isPending({ stage, isOwned }: SessionCandidate): boolean {
  return stage === 'pending' || (UNDER_WAY.includes(stage) && !isOwned);
}

const isRunning = ({ stage, isOwned }: SessionCandidate): boolean => UNDER_WAY.includes(stage) && isOwned;

const FITS: Readonly<Record<Purpose, (one: SessionCandidate) => boolean>> = {
  look: (one) => isPending(one) || isRunning(one),
  decide: isPending,
  undo: ({ appliedAt }) => appliedAt !== undefined,
  layer: (one) => one.hasLayer && !isRunning(one),
  follow: isRunning,
  log: () => true,
  any: ({ stage }) => stage !== 'failed',
};
