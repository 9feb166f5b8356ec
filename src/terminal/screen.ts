import type { ReadStream, WriteStream } from 'node:tty';
import type { Interruption } from './interruption.ts';

/** In front of every line of run-claude. */
export const PREFIX = '[sandbox] ';

/** The user's terminal. Questions go to stderr: stdout is the agent's. */
export interface Screen {
  readonly stdin: ReadStream;
  readonly stderr: WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly colour: boolean;
  /** TERM is dumb or unknown: no cursor movement. */
  readonly dumb: boolean;
  readonly interruption?: Interruption;
}
