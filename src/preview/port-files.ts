import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import {
  fields,
  listOf,
  number,
  oneOf,
  optional,
  type RecordFormat,
  readRecordFile,
  text,
} from '../store/parse-record.ts';
import { writeJsonAtomic } from '../store/record.ts';

// How `run-claude ports` and the process that runs a session find each other: two files in the session's directory, which
// only this user can read.

/** A page of a session, or why there is none. */
export interface OpenPort {
  readonly port: number;
  readonly hostPort?: number | undefined;
  /** With the token. */
  readonly url?: string | undefined;
  readonly error?: string | undefined;
  readonly hint?: string | undefined;
  /** The last request for this port. */
  readonly asked?: string | undefined;
}

/** A request for a page: `PORT[:HOSTPORT]`. */
export interface PortRequest {
  readonly id: string;
  readonly words: string;
}

interface PortsRecord {
  readonly version: 1;
  readonly ports: readonly OpenPort[];
}

const FORMAT: RecordFormat<PortsRecord> = {
  name: "record of a session's pages",
  version: 1,
  check: fields<PortsRecord>({
    version: oneOf(1),
    ports: listOf(
      fields<OpenPort>({
        port: number,
        hostPort: optional(number),
        url: optional(text),
        error: optional(text),
        hint: optional(text),
        asked: optional(text),
      }),
    ),
  }),
  hint: 'Start the session again.',
};

const openFile = (sessionDir: string): string => path.join(sessionDir, 'ports.json');
const askedFile = (sessionDir: string): string => path.join(sessionDir, 'ports-asked.json');

export function writeOpenPorts(sessionDir: string, ports: readonly OpenPort[]): void {
  writeJsonAtomic(openFile(sessionDir), { version: 1, ports } satisfies PortsRecord);
}

/** Empty where the session shows nothing. @throws {RunClaudeError} RECORD_DAMAGED */
export function readOpenPorts(sessionDir: string): readonly OpenPort[] {
  return readRecordFile(openFile(sessionDir), FORMAT)?.ports ?? [];
}

/** Asks the process that runs the session for one more page. Returns the id of the request. */
export function askForPort(sessionDir: string, words: string): string {
  const id = randomUUID();
  writeJsonAtomic(askedFile(sessionDir), [...readAskedPorts(sessionDir), { id, words } satisfies PortRequest]);
  return id;
}

/** What was asked for since the session started. A file that cannot be read asks for nothing. */
export function readAskedPorts(sessionDir: string): readonly PortRequest[] {
  try {
    const value: unknown = JSON.parse(readFileSync(askedFile(sessionDir), 'utf8'));
    return Array.isArray(value) ? value.filter(isRequest) : [];
  } catch {
    return [];
  }
}

function isRequest(value: unknown): value is PortRequest {
  const { id, words } = (typeof value === 'object' && value !== null ? value : {}) as Partial<PortRequest>;
  return typeof id === 'string' && typeof words === 'string';
}

/** At the start and the end of a session: the pages are those of its process. */
export function removePortFiles(sessionDir: string): void {
  for (const file of [openFile(sessionDir), askedFile(sessionDir)]) rmSync(file, { force: true });
}
