import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { HostEvent, HostEventKind } from '../../../core/types/log-event.ts';

/** Much more than the events of any session; a loop of commands must not fill the disk. */
const MAX_FILE_BYTES = 16 * 1024 ** 2;
const MAX_TEXT_CHARACTERS = 500;
const LINE_FEED = 0x0a;

/** events.jsonl in the session's directory. */
export function eventsFile(sessionDir: string): string {
  return path.join(sessionDir, 'events.jsonl');
}

/**
 * Appends an event to the log of a session, in one write. A line that a killed command left incomplete is ended first.
 * Never throws: a log that cannot be written stops no session.
 */
export function appendEvent(sessionDir: string, kind: HostEventKind, text: string, atMs: number = Date.now()): void {
  const event: HostEvent = { at: new Date(atMs).toISOString(), kind, text: shortened(text) };
  try {
    append(eventsFile(sessionDir), JSON.stringify(event));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
}

/** At most MAX_TEXT_CHARACTERS of a text. */
export function shortened(text: string): string {
  return text.length > MAX_TEXT_CHARACTERS ? `${text.slice(0, MAX_TEXT_CHARACTERS)}…` : text;
}

function append(file: string, line: string): void {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
  const fd = openSync(file, O_APPEND | O_CREAT | O_NOFOLLOW | O_RDWR, 0o600);
  try {
    const { size } = fstatSync(fd);
    if (size > MAX_FILE_BYTES) return;
    const last = Buffer.alloc(1);
    const isTorn = size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== LINE_FEED;
    writeSync(fd, `${isTorn ? '\n' : ''}${line}\n`);
  } finally {
    closeSync(fd);
  }
}
