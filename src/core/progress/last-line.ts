import { StringDecoder } from 'node:string_decoder';

/** A longer line without an end keeps its first characters: no program fills this process with one line. */
const MAX_LINE_CHARACTERS = 400;

/** Sequences that colour text, move a cursor or set a title. */
const TERMINAL_SEQUENCES =
  /(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?/g;

/** The last whole line of what a program prints, by pieces of any size. */
export class LastLine {
  readonly #decoder = new StringDecoder('utf8');
  #open = '';
  #line: string | undefined;

  /** Without sequences for a terminal, and not blank. Other control characters are still in it. */
  get line(): string | undefined {
    return this.#line;
  }

  /** Returns whether the line is another one now. A carriage return ends a line too: progress of programs. */
  push(piece: Uint8Array | string): boolean {
    const before = this.#line;
    const text = typeof piece === 'string' ? piece : this.#decoder.write(Buffer.from(piece));
    const lines = text.split(/[\r\n]/);
    for (const [at, part] of lines.entries()) {
      if (this.#open.length < MAX_LINE_CHARACTERS) this.#open = (this.#open + part).slice(0, MAX_LINE_CHARACTERS);
      if (at < lines.length - 1) this.#end();
    }
    return this.#line !== before;
  }

  #end(): void {
    const line = this.#open.replace(TERMINAL_SEQUENCES, '').replaceAll('\t', ' ').trim();
    this.#open = '';
    if (line !== '') this.#line = line;
  }
}
