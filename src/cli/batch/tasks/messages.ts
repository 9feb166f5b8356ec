import type { SessionEvent } from '../../../core/types/event.ts';

/** What the process of a task is sent, once. */
export interface TaskOrder {
  /** A command line. */
  readonly words: readonly string[];
  /** As in the plan. */
  readonly task: string;
}

/** What it sends to the batch. */
export type FromTask =
  | { readonly kind: 'tell'; readonly event: SessionEvent }
  /** Why it ends without a session's own status. */
  | { readonly kind: 'failed'; readonly message: string };
