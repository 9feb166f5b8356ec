import { jsonIn } from '../../core/text/json-in.ts';
// Requests of a client to the runner inside. Every path in them is one of the container: the host never uses it.

/** Starts a program. Its frames are output, taken input, and one exit. */
export interface RunRequest {
  readonly kind: 'run';
  readonly argv: readonly string[];
  /** Default: the directory in which the session starts. */
  readonly cwd?: string | undefined;
  /** Added to the session's own environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** When the program and what it started are ended. */
  readonly timeoutMs?: number | undefined;
}

/** Reads lines of a text file, counted from 1. */
export interface ReadRequest {
  readonly kind: 'read';
  readonly path: string;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

/** Writes a file, and makes its directories. */
export interface WriteRequest {
  readonly kind: 'write';
  readonly path: string;
  readonly content: string;
}

/** Replaces text in a file: one place, or with `all` each. */
export interface EditRequest {
  readonly kind: 'edit';
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly all?: boolean | undefined;
}

/** Lists the files that match a pattern. */
export interface GlobRequest {
  readonly kind: 'glob';
  readonly pattern: string;
  readonly path?: string | undefined;
}

/** Searches file contents for a regular expression. */
export interface GrepRequest {
  readonly kind: 'grep';
  readonly pattern: string;
  readonly path?: string | undefined;
  /** Only in files whose names match. */
  readonly glob?: string | undefined;
  readonly ignoreCase?: boolean | undefined;
  /** Names of the files alone. */
  readonly filesOnly?: boolean | undefined;
}

/** Keeps the session from being idle until it is cancelled; the holder itself answers it. */
export interface HoldRequest {
  readonly kind: 'hold';
}

export type FileRequest = ReadRequest | WriteRequest | EditRequest | GlobRequest | GrepRequest;
export type Request = RunRequest | FileRequest | HoldRequest;

/** The answer to a request that starts no program. */
export interface TextResult {
  readonly text: string;
  /** There was more than what is returned. */
  readonly isCut: boolean;
}

/** How a program ended. */
export interface ProgramExit {
  /** As a shell counts it: 128 and the signal's number where a signal ended it. */
  readonly status: number;
  readonly timedOut: boolean;
}

/** The longest text of an answer, in bytes. */
export const MAX_RESULT_BYTES: number = 1024 ** 2;
/** The largest file that is read, written or edited as text. */
export const MAX_TEXT_FILE_BYTES: number = 3 * 1024 ** 2;

/** An answer as it is sent: whether it is cut, then the text as it is, which JSON could make six times as long. */
export function encodeResult({ text, isCut }: TextResult): Buffer {
  return Buffer.concat([Buffer.from([isCut ? 1 : 0]), Buffer.from(text)]);
}

/** The answer of the runner, as data: a text of at most MAX_RESULT_BYTES. */
export function decodeResult(bytes: Buffer): TextResult {
  const text = bytes.subarray(1, 1 + MAX_RESULT_BYTES).toString('utf8');
  return { text, isCut: bytes[0] === 1 || bytes.length > 1 + MAX_RESULT_BYTES };
}

/** The end of a program, as data: what cannot be understood is a failure. */
export function programExitOf(value: unknown): ProgramExit {
  const { status, timedOut } = (typeof value === 'object' && value !== null ? value : {}) as Partial<ProgramExit>;
  const isStatus = Number.isInteger(status) && (status as number) >= 0 && (status as number) <= 255;
  return { status: isStatus ? (status as number) : 255, timedOut: timedOut === true };
}

/** JSON of a frame; undefined where it is none. */
export const jsonOf = (bytes: Buffer): unknown => jsonIn(bytes.toString('utf8'));
