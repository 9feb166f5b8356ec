/**
 * What an event of a session is about. Those of the agent are what its transcript says, and can be made up; all others
 * are what run-claude saw.
 */
export type HostEventKind =
  | 'start'
  | 'network'
  | 'cost'
  | 'files'
  | 'finding'
  | 'command'
  | 'limit'
  | 'end'
  | 'failed'
  | 'answer'
  | 'apply'
  | 'undo'
  | 'discard'
  | 'notify';

/** An event that a command of run-claude records itself, a line of `events.jsonl`. */
export interface HostEvent {
  /** ISO 8601. */
  readonly at: string;
  readonly kind: HostEventKind;
  /** One sentence. Names in it may be the agent's: not cleaned for the terminal. */
  readonly text: string;
}

/** Part of a conversation, as the agent's transcript has it. */
export interface Claim {
  /** ISO 8601, as claimed. */
  readonly at: string;
  readonly kind: 'prompt' | 'tool';
  readonly text: string;
}

/** One line of `log`. */
export type LogEvent =
  | (HostEvent & { readonly by: 'host'; readonly facts?: Readonly<Record<string, string | number>> })
  | (Claim & { readonly by: 'agent' });
