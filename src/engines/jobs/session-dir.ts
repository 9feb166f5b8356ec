import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError, usageError } from '../../core/errors.ts';
import { makePrivateDir, writeFileAtomic } from '../../core/store/record.ts';
import { shellWord } from '../../core/text/shell-word.ts';
import type { VolumeSpec } from '../../core/types/engine.ts';

/** A volume as the session's directory records it. */
export interface RecordedVolume {
  /** Its directory in the node's, another one for each volume of that name. */
  readonly place: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Of an overlay: the options of its mount. Such a volume has no content of its own. */
  readonly overlay?: string | undefined;
}

/** The directory of a session below the shared one: what its jobs leave for each other and for this machine. */
export interface SessionDir {
  readonly dir: string;
  /** The number of the last job; 0: there was none. */
  lastRun(): number;
  /** The directory of a job, made. */
  makeRun(number: number): string;
  /** Names the state directory that the session is of: gc of another one leaves it alone. */
  setOwner(owner: string): void;
  runDir(number: number): string;
  /** The id that the scheduler gave to the last job. */
  job(): string | undefined;
  setJob(id: string): void;
  volume(name: string): RecordedVolume | undefined;
  volumes(): readonly string[];
  addVolume(volume: VolumeSpec): void;
  removeVolume(name: string): void;
  /** Whether a job saved volumes. */
  hasSaved(): boolean;
  /** Whether volumes are to be saved. */
  hasKept(): boolean;
  remove(): void;
}

/** Nodes write into the shared directory too: a name from there is one part of a path, and not an option of a command. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;

/**
 * The word, when it is plain.
 *
 * @throws {RunClaudeError} RECORD_DAMAGED
 */
function plain(word: unknown, file: string): string {
  if (typeof word === 'string' && PLAIN.test(word)) return word;
  throw new RunClaudeError('RECORD_DAMAGED', `${file} has a name that run-claude did not write`, {
    hint: 'Remove the session: run-claude discard',
  });
}

/**
 * Makes the shared directory, which only the user may change: who writes there chooses what jobs run.
 *
 * @throws {RunClaudeError} USAGE for a directory that others may change
 */
export function openSharedDir(shared: string, uid: number): void {
  makePrivateDir(shared);
  const { uid: owner, mode } = statSync(shared);
  if (owner === uid && (mode & 0o022) === 0) return;
  throw usageError(
    `[slurm] directory: other users may change ${shared}`,
    `Take your own directory, or: chmod 700 ${shellWord(shared)}`,
  );
}

export const OWNER_FILE = 'owner';

/** Everything of the gateway is of one job: it is not saved. */
const isSaved = (name: string): boolean => !name.endsWith('-gw');

/** Opens the directory of a session; it is made when something is written. */
export function openSessionDir(shared: string, sessionId: string): SessionDir {
  const dir = path.join(shared, 'sessions', sessionId);
  const [volumes, kept] = [path.join(dir, 'volumes'), path.join(dir, 'kept')];
  const fileOf = (name: string): string => path.join(volumes, `${name}.json`);
  const runDir = (number: number): string => path.join(dir, `run-${number}`);
  const read = (name: string): RecordedVolume | undefined => {
    if (!existsSync(fileOf(name))) return undefined;
    const record = JSON.parse(readFileSync(fileOf(name), 'utf8')) as RecordedVolume;
    return { ...record, place: plain(record.place, fileOf(name)) };
  };
  const removeVolume = (name: string): void => {
    const known = read(name);
    if (known === undefined) return;
    rmSync(path.join(kept, known.place), { force: true });
    rmSync(fileOf(name), { force: true });
  };
  return {
    dir,
    lastRun: () => namesIn(dir).reduce((most, name) => Math.max(most, Number(/^run-(\d+)$/.exec(name)?.[1] ?? 0)), 0),
    runDir,
    setOwner(owner) {
      makePrivateDir(dir);
      writeFileAtomic(path.join(dir, OWNER_FILE), owner, { durable: false });
    },
    makeRun(number) {
      makePrivateDir(path.join(runDir(number), 'bundles'));
      makePrivateDir(kept);
      return runDir(number);
    },
    job() {
      const file = path.join(dir, 'job');
      return existsSync(file) ? plain(readFileSync(file, 'utf8'), file) : undefined;
    },
    setJob: (id) => writeFileAtomic(path.join(dir, 'job'), id),
    volume: read,
    volumes: () => namesIn(volumes).map((name) => name.replace(/\.json$/, '')),
    addVolume({ name, labels, options }) {
      const place = `${name}-${randomBytes(4).toString('hex')}`;
      makePrivateDir(volumes);
      makePrivateDir(kept);
      const record: RecordedVolume = {
        place,
        labels,
        ...(options?.['o'] === undefined ? {} : { overlay: options['o'] }),
      };
      writeFileAtomic(fileOf(name), JSON.stringify(record));
      if (record.overlay === undefined && isSaved(name)) writeFileSync(path.join(kept, place), '', { mode: 0o600 });
    },
    removeVolume,
    hasSaved: () => existsSync(path.join(dir, 'saved.tar')),
    hasKept: () => namesIn(kept).length > 0,
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

function namesIn(dir: string): readonly string[] {
  return existsSync(dir) ? readdirSync(dir).filter((name) => !name.startsWith('.')) : [];
}

/** gc removes what was not used for long. Another session may remove it in the meantime. */
export function markUsed(file: string): void {
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch {
    // The next use says so.
  }
}

/** Volumes that sessions share stay in the shared directory itself. */
export interface SharedVolumes {
  isShared(name: string): boolean;
  dirOf(name: string): string;
  labels(name: string): Readonly<Record<string, string>> | undefined;
  add(volume: VolumeSpec): void;
  remove(name: string): void;
  names(): readonly string[];
}

/** Opens the volumes below `bases`: the copies of projects. */
export function openSharedVolumes(shared: string): SharedVolumes {
  const top = path.join(shared, 'bases');
  const fileOf = (name: string): string => path.join(top, `${name}.json`);
  return {
    isShared: (name) => name.startsWith('run-claude-base-'),
    dirOf: (name) => path.join(top, name),
    labels(name) {
      if (!existsSync(fileOf(name))) return undefined;
      markUsed(fileOf(name));
      return JSON.parse(readFileSync(fileOf(name), 'utf8')) as Readonly<Record<string, string>>;
    },
    add({ name, labels }) {
      makePrivateDir(top);
      mkdirSync(path.join(top, name), { recursive: true, mode: 0o755 });
      if (!existsSync(fileOf(name))) writeFileAtomic(fileOf(name), JSON.stringify(labels));
    },
    remove(name) {
      rmSync(fileOf(name), { force: true });
      rmSync(path.join(top, name), { recursive: true, force: true });
    },
    names: () => namesIn(top).flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -5)] : [])),
  };
}
