import { lstatSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { FoundObject } from '../../core/types/engine.ts';
import { readWord } from './read-word.ts';
import { OWNER_FILE, openSessionDir } from './session-dir.ts';

/** What sessions of any state directory may use is listed when none used it for this long. */
const UNUSED_MS = 30 * 86_400_000;
const SESSION_ID = /^\d{6}-\d{6}-[2-9b-z]{3}$/;
const IMAGE_KEY = /^[0-9a-f]{32}$/;
const BASE_FILE = /^run-claude-base-([0-9a-f]+)\.json$/;
/** The directory of a session that has no volume left. */
const REST = 'run-claude-job-';
const IMAGE = 'run-claude-job-image:';

/**
 * What the shared directory holds for gc: the sessions of one state directory, and the bases and images that no session
 * used for 30 days. Entries with other names, of other owners, and links are not listed.
 */
export function sharedObjects(shared: string, owner: string, nowMs: number): readonly FoundObject[] {
  const sessions = directoriesIn(path.join(shared, 'sessions')).flatMap(({ name, dir, changedMs }) => {
    if (!SESSION_ID.test(name) || readWord(path.join(dir, OWNER_FILE)) !== owner) return [];
    const session = openSessionDir(shared, name);
    const usedMs = Math.max(changedMs, changedAt(session.runDir(session.lastRun())) ?? 0);
    const volumes = session.volumes();
    return (volumes.length > 0 ? volumes : [`${REST}${name}`]).map((volume) => volumeOf(volume, name, usedMs));
  });
  const images = directoriesIn(path.join(shared, 'images')).flatMap(({ name, changedMs }): FoundObject[] => {
    if (!IMAGE_KEY.test(name) || nowMs - changedMs < UNUSED_MS) return [];
    const id = `${IMAGE}${name}`;
    return [{ kind: 'image', id, name: id, labels: {}, running: false, createdMs: changedMs }];
  });
  const bases = namesIn(path.join(shared, 'bases')).flatMap((name) => {
    const key = BASE_FILE.exec(name)?.[1];
    const usedMs = changedAt(path.join(shared, 'bases', name));
    if (key === undefined || usedMs === undefined || nowMs - usedMs < UNUSED_MS) return [];
    return [volumeOf(name.slice(0, -'.json'.length), `base-${key}`, usedMs)];
  });
  return [...sessions, ...bases, ...images];
}

/** The session of a directory that {@link sharedObjects} lists; undefined for another name. */
export function sessionOfRest(name: string): string | undefined {
  const id = name.startsWith(REST) ? name.slice(REST.length) : '';
  return SESSION_ID.test(id) ? id : undefined;
}

/** Removes an unpacked image that {@link sharedObjects} lists. Returns whether the name is of one. */
export function removeSharedImage(shared: string, name: string): boolean {
  const key = name.startsWith(IMAGE) ? name.slice(IMAGE.length) : '';
  if (!IMAGE_KEY.test(key)) return false;
  rmSync(path.join(shared, 'images', key), { recursive: true, force: true });
  return true;
}

function volumeOf(name: string, session: string, createdMs: number): FoundObject {
  return { kind: 'volume', id: name, name, labels: { 'run-claude.session': session }, running: false, createdMs };
}

function directoriesIn(top: string) {
  return namesIn(top).flatMap((name) => {
    const dir = path.join(top, name);
    const changedMs = changedAt(dir, 'directory');
    return changedMs === undefined ? [] : [{ name, dir, changedMs }];
  });
}

function namesIn(top: string): readonly string[] {
  // Nor is the directory itself reached through a link.
  return changedAt(top, 'directory') === undefined ? [] : readdirSync(top);
}

/** When an entry changed; undefined for a link, and for what is no longer there. */
function changedAt(entry: string, kind: 'any' | 'directory' = 'any'): number | undefined {
  const found = lstatSync(entry, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink() || (kind === 'directory' && !found.isDirectory())) return undefined;
  return found.mtimeMs;
}
