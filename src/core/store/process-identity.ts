import type { ProcessIdentity } from '../types/session.ts';
import { fields, number, optional, text } from './parse-record.ts';

/** Of the process that holds a lock or runs a session. Its optional fields are absent in records of earlier releases. */
export const processIdentityCheck = fields<ProcessIdentity>({
  pid: number,
  started: text,
  startedAt: optional(text),
  bootId: text,
  host: text,
  machine: optional(text),
});
