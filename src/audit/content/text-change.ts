import type { Line } from '../formats/lines.ts';

/** A changed text and its new lines. */
export interface TextChange {
  readonly path: string;
  readonly text: string;
  readonly oldText: string | undefined;
  readonly added: readonly Line[];
}

/** The new content of a file, and the old one where it is known. Of large files only the two ends. */
export interface BytesChange {
  readonly path: string;
  readonly before: Buffer | undefined;
  readonly bytes: Buffer;
  /** Of the whole file. */
  readonly size: number;
}
