import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { namesIn } from '../../core/host/files/names-in.ts';
import {
  fields,
  listOf,
  number,
  oneOf,
  optional,
  type RecordFormat,
  readRecordFile,
  text,
} from '../../core/store/parse-record.ts';
import { makePrivateDir, writeJsonAtomic } from '../../core/store/record.ts';

// How `run-claude ports` and the process that runs a session find each other: what is open in one file
// of the session's directory, and each request in its own file. Only this user can read them.

/** A page of a session, or why there is none. */
export interface OpenPort {
  readonly port: number;
  readonly hostPort?: number | undefined;
  /** With the token. */
  readonly url?: string | undefined;
  readonly error?: string | undefined;
  readonly hint?: string | undefined;
  /** The requests that this answers. */
  readonly asked?: readonly string[] | undefined;
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
        asked: optional(listOf(text)),
      }),
    ),
  }),
  hint: 'Start the session again.',
};

const REQUEST_FILE = /^[0-9a-f-]{36}\.json$/;
const openFile = (sessionDir: string): string => path.join(sessionDir, 'ports.json');
const askedDir = (sessionDir: string): string => path.join(sessionDir, 'ports-asked');

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
  makePrivateDir(askedDir(sessionDir));
  writeJsonAtomic(path.join(askedDir(sessionDir), `${id}.json`), { id, words } satisfies PortRequest);
  return id;
}

/** What was asked for and not removed. A file that cannot be read asks for nothing. */
export function readAskedPorts(sessionDir: string): readonly PortRequest[] {
  const dir = askedDir(sessionDir);
  return namesIn(dir)
    .filter((name) => REQUEST_FILE.test(name))
    .flatMap((name) => readRequest(path.join(dir, name)) ?? []);
}

/** After the answer. */
export function removeAskedPort(sessionDir: string, { id }: PortRequest): void {
  rmSync(path.join(askedDir(sessionDir), `${id}.json`), { force: true });
}

/** The name is the id, so that it names no other file. */
function readRequest(file: string): PortRequest | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isRequest(value) && path.basename(file) === `${value.id}.json` ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRequest(value: unknown): value is PortRequest {
  const { id, words } = (typeof value === 'object' && value !== null ? value : {}) as Partial<PortRequest>;
  return typeof id === 'string' && typeof words === 'string';
}

/** At the start and the end of a session: the pages are those of its process. */
export function removePortFiles(sessionDir: string): void {
  for (const file of [openFile(sessionDir), askedDir(sessionDir)]) rmSync(file, { recursive: true, force: true });
}
