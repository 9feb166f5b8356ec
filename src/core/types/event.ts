import type { Severity } from './finding.ts';
import type { Stage } from './session.ts';

/** What a stage tells while it works. `terminal` turns these into text, JSON or bars; nothing else prints. */
export type SessionEvent =
  | {
      readonly kind: 'message';
      readonly level: 'info' | 'warning' | 'error';
      readonly text: string;
      /** Of an error that ends a command: docs/reference/error-codes.md. */
      readonly code?: string;
    }
  | { readonly kind: 'trace'; readonly text: string }
  | {
      readonly kind: 'progress';
      readonly what: string;
      /** Undefined: what is done cannot be counted. Of steps: those that have ended. */
      readonly done?: number;
      readonly total?: number;
      /** Of `done` and `total`. */
      readonly unit?: 'bytes' | 'files' | 'steps' | 'services';
      /** What runs now, such as the last line of a program. It may be any text. */
      readonly detail?: string;
    }
  | { readonly kind: 'progress-end'; readonly what: string }
  /**
   * One line that is replaced in place on a terminal and shown nowhere else; without text it is removed. `file` is at its
   * end, and is cut at its beginning where the terminal is too narrow.
   */
  | { readonly kind: 'status-line'; readonly text?: string; readonly file?: string }
  /** The agent has the user's terminal: nothing is printed on it until it is returned. */
  | { readonly kind: 'terminal-lent' }
  | { readonly kind: 'terminal-returned' }
  | { readonly kind: 'finding'; readonly severity: Severity; readonly text: string }
  /** For a command that watches several sessions; printed nowhere. */
  | { readonly kind: 'stage'; readonly session: string; readonly stage: Stage };

/** Handed down to every stage; never throws. */
export type Tell = (event: SessionEvent) => void;
