import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { readJson, writeJsonAtomic } from '../store/record.ts';

/** A session that stands on a generation of a base, here or in an engine: that one may not change. */
export interface BaseUser {
  readonly generation: number;
  /** The entry is void when this directory is gone. */
  readonly sessionDir: string;
  /** In an engine: of which volume. */
  readonly volumeId?: string;
}

/** Sessions that stand on a generation of the base in `dir`. */
export function usersOf(dir: string): readonly BaseUser[] {
  return entriesOf(dir)
    .map(({ user }) => user)
    .filter(({ sessionDir }) => existsSync(sessionDir));
}

/** Removes the entries of sessions that are gone. */
export function dropGoneUsers(dir: string): void {
  for (const { file, user } of entriesOf(dir)) if (!existsSync(user.sessionDir)) rmSync(file, { force: true });
}

/** Notes that a session stands on a generation, in place of what was noted of it before. */
export function enterUser(dir: string, sessionId: string, user: BaseUser): void {
  writeJsonAtomic(fileOf(dir, sessionId), user);
}

/** No error when it was never entered. */
export function releaseUser(dir: string, sessionId: string): void {
  rmSync(fileOf(dir, sessionId), { force: true });
}

function fileOf(dir: string, sessionId: string): string {
  return path.join(dir, 'users', `${sessionId}.json`);
}

function entriesOf(dir: string): Array<{ readonly file: string; readonly user: BaseUser }> {
  const folder = path.join(dir, 'users');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      const file = path.join(folder, name);
      const user = readJson(file) as BaseUser | undefined;
      return user === undefined ? [] : [{ file, user }];
    });
}
