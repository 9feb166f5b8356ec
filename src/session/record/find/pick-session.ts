import type { Stage } from '../../../core/types/session.ts';

/**
 * What a command needs of a session, which decides the session that it means without an id. look: anything that is under
 * way or not decided about. decide: pending changes. commits: commits that can still be read. undo: an apply. layer: a
 * working copy. follow, inside: a running agent. stop: one that can be ended. down: the same of a session of `up`.
 * log: any session, also a failed one. any: one that did not fail.
 */
export type Purpose =
  | 'look'
  | 'decide'
  | 'commits'
  | 'undo'
  | 'layer'
  | 'follow'
  | 'inside'
  | 'stop'
  | 'down'
  | 'log'
  | 'any';

/** Every command that takes the id of a session. `diff --follow` and `network allow` need a running one. */
export const PURPOSE_OF_COMMAND = {
  shell: 'inside',
  down: 'down',
  status: 'look',
  diff: 'look',
  'diff --follow': 'follow',
  attach: 'look',
  wait: 'stop',
  stop: 'stop',
  apply: 'decide',
  discard: 'decide',
  undo: 'undo',
  commits: 'commits',
  export: 'decide',
  resume: 'layer',
  explore: 'layer',
  rehearse: 'decide',
  note: 'any',
  audit: 'decide',
  log: 'log',
  network: 'any',
  'network allow': 'inside',
  ports: 'inside',
} as const satisfies Readonly<Record<string, Purpose>>;

export type SessionCommand = keyof typeof PURPOSE_OF_COMMAND;

/** The facts of a session by which one is picked. */
export interface SessionCandidate {
  readonly stage: Stage;
  /** ISO 8601. */
  readonly started: string;
  /** A command is running it. */
  readonly isOwned: boolean;
  /** When its last apply was, if it can be undone; ISO 8601. */
  readonly appliedAt: string | undefined;
  /** Its working copy still exists, and an agent can go on in it. */
  readonly hasLayer: boolean;
  /** It made commits, or nobody listed them, and its repository still exists. */
  readonly hasCommits: boolean;
  /** It is a session of `up`. */
  readonly isKept: boolean;
}

export interface Picked<T> {
  readonly session: T;
  /** Other sessions that the command could have meant as well, the most recent first. */
  readonly others: readonly T[];
}

type Staged = Pick<SessionCandidate, 'stage'>;

/** Its agent runs or is about to, also where its command was killed: what it left is collected then. */
export const isStoppable = ({ stage }: Staged): boolean => stage === 'planned' || stage === 'running';

/** Its agent or the collection has not ended, also where its command was killed. */
export const isUnderWay = ({ stage }: Staged): boolean => isStoppable({ stage }) || stage === 'ended';

/** It has pending changes, or its command was killed and the next command collects them. The one meaning of "pending". */
export function isPending({ stage, isOwned }: Pick<SessionCandidate, 'stage' | 'isOwned'>): boolean {
  return stage === 'pending' || (isUnderWay({ stage }) && !isOwned);
}

const isRunning = ({ stage, isOwned }: SessionCandidate): boolean => isUnderWay({ stage }) && isOwned;

interface Rule {
  /** The most recent session that fits the first of these is meant; where none does, one that fits the next. */
  readonly fits: readonly ((one: SessionCandidate) => boolean)[];
  /** What is printed of one other session that fits, and of several. */
  readonly others: readonly [one: string, several: string];
  /** No other session is taken in place of one that fits, and none is chosen of several: its agent would end. */
  readonly isStrict?: true;
  /** Of a folder next to a project, the session of its agent is meant. */
  readonly isOfAgent?: true;
}

const RULES: Readonly<Record<Purpose, Rule>> = {
  look: {
    fits: [(one) => isPending(one) || isRunning(one)],
    others: ['is pending or running', 'are pending or running'],
  },
  decide: { fits: [isPending], others: ['is pending', 'are pending'] },
  commits: { fits: [(one) => one.hasCommits && !isRunning(one)], others: ['has commits', 'have commits'] },
  undo: { fits: [({ appliedAt }) => appliedAt !== undefined], others: ['is applied as well', 'are applied as well'] },
  layer: { fits: [(one) => one.hasLayer && !isRunning(one)], others: ['is kept as well', 'are kept as well'] },
  follow: { fits: [isRunning], others: ['is running', 'are running'] },
  inside: { fits: [isRunning], others: ['is running', 'are running'], isOfAgent: true },
  stop: { fits: [isStoppable], others: ['is running', 'are running'], isStrict: true, isOfAgent: true },
  down: {
    fits: [(one) => one.isKept && isStoppable(one), (one) => one.isKept && isPending(one)],
    others: ['is of run-claude up', 'are of run-claude up'],
    isStrict: true,
    isOfAgent: true,
  },
  log: { fits: [() => true], others: ['is older', 'are older'] },
  any: { fits: [({ stage }) => stage !== 'failed'], others: ['is older', 'are older'] },
};

/**
 * The session that a command means, of those of one project: the most recent that fits its purpose, otherwise the most
 * recent that did not fail before it held anything. Undefined when there is none. Pure.
 */
export function pickSession<T extends SessionCandidate>(
  candidates: readonly T[],
  purpose: Purpose,
): Picked<T> | undefined {
  const { fits, isStrict } = RULES[purpose];
  const inOrder = [...candidates].sort((a, b) => (orderOf(a, purpose) < orderOf(b, purpose) ? 1 : -1));
  const fitting = fits.map((one) => inOrder.filter(one)).find(({ length }) => length > 0) ?? [];
  const spare = isStrict ? undefined : (inOrder.find(({ stage }) => stage !== 'failed') ?? inOrder[0]);
  const session = fitting[0] ?? spare;
  return session === undefined ? undefined : { session, others: fitting.slice(1) };
}

/** An undo means the last apply of the project, whichever session it was of. */
function orderOf({ appliedAt, started }: SessionCandidate, purpose: Purpose): string {
  return purpose === 'undo' && appliedAt !== undefined ? `z${appliedAt}` : started;
}

/** '2 others are pending'. */
export function othersText(count: number, purpose: Purpose): string {
  const [one, several] = RULES[purpose].others;
  return count === 1 ? `1 other ${one}` : `${count} others ${several}`;
}

export function isStrictPurpose(purpose: Purpose): boolean {
  return RULES[purpose].isStrict === true;
}

export function isOfAgent(purpose: Purpose): boolean {
  return RULES[purpose].isOfAgent === true;
}
