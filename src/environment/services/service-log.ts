import { appendFileSync, existsSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { makePrivateDir } from '../../core/store/record.ts';

/** What a service of a session prints, kept with the session. */
export interface ServiceLog {
  write(bytes: Buffer): void;
  /** The last lines that this run printed, at most ten. Not cleaned. */
  lastLines(): string;
}

/** A file of this size is kept as the older part, and a new one begins: a service that prints without end must not fill the disk. */
const MAX_PART_BYTES = 2 * 1024 * 1024;
const TAIL_BYTES = 4096;
const TAIL_LINES = 10;

const logsDir = (sessionDir: string): string => path.join(sessionDir, 'services');
const newPart = (sessionDir: string, name: string): string => path.join(logsDir(sessionDir), `${name}.log`);
const oldPart = (sessionDir: string, name: string): string => path.join(logsDir(sessionDir), `${name}.old.log`);

/** The log of a service. A resumed session continues it. */
export function openServiceLog(sessionDir: string, name: string): ServiceLog {
  const file = newPart(sessionDir, name);
  makePrivateDir(path.dirname(file));
  let size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  let tail = Buffer.alloc(0);
  const add = (bytes: Buffer): void => {
    if (size + bytes.length > MAX_PART_BYTES && size > 0) {
      renameSync(file, oldPart(sessionDir, name));
      size = 0;
    }
    const kept = bytes.subarray(-MAX_PART_BYTES);
    appendFileSync(file, kept, { mode: 0o600 });
    size += kept.length;
  };
  return {
    write(bytes) {
      tail = Buffer.concat([tail, bytes]).subarray(-TAIL_BYTES);
      try {
        add(bytes);
      } catch {
        // A full disk, or a removed session: the service goes on, as the agent does.
      }
    },
    lastLines: () => tail.toString('utf8').trimEnd().split('\n').slice(-TAIL_LINES).join('\n'),
  };
}

/** What a service has printed; undefined where it printed nothing. Not cleaned. */
export function readServiceLog(sessionDir: string, name: string): string | undefined {
  const parts = [oldPart(sessionDir, name), newPart(sessionDir, name)].filter((file) => existsSync(file));
  return parts.length === 0 ? undefined : parts.map((file) => readFileSync(file, 'utf8')).join('');
}

/** Names of the services of which the session has a log. */
export function serviceLogs(sessionDir: string): string[] {
  const dir = logsDir(sessionDir);
  const names = (existsSync(dir) ? readdirSync(dir) : []).flatMap(
    (file) => /^([a-z0-9-]+)\.log$/.exec(file)?.[1] ?? [],
  );
  return names.sort();
}
