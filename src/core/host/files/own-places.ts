import { type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../../errors.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { Places } from '../facts.ts';

/** The user of this process. */
export interface PlaceUser {
  readonly uid: number;
  /** The user who called sudo; undefined without sudo. */
  readonly sudoUid: number | undefined;
}

const WRITABLE_BY_OTHERS = 0o022;

const CHECKED = [
  ['stateDir', 'XDG_STATE_HOME'],
  ['cacheDir', 'XDG_CACHE_HOME'],
  ['dataDir', 'XDG_DATA_HOME'],
] as const;

/**
 * Refuses directories of run-claude that another user may have filled: records say which bytes are applied where, and a
 * base is what every session starts from. The directory of the configuration is not checked, because some systems keep
 * it read-only as root.
 *
 * @throws {RunClaudeError} PLACE_FOREIGN when one belongs to another user, or would under sudo be made among the files of
 * the user who called it; PLACE_OPEN when others may write to one.
 */
export function requireOwnPlaces(places: Places, { uid, sudoUid }: PlaceUser, statOf: StatOf = stat): void {
  for (const [name, variable] of CHECKED) {
    const dir = places[name];
    const found = statOf(dir);
    if (found === undefined) {
      if (uid === 0 && sudoUid !== undefined && sudoUid !== 0 && nearest(dir, statOf)?.uid === sudoUid)
        throw foreign(dir, sudoUid, uid, variable);
    } else if (found.uid !== uid) throw foreign(dir, found.uid, uid, variable);
    else if ((found.mode & WRITABLE_BY_OTHERS) !== 0) {
      throw new RunClaudeError('PLACE_OPEN', `other users may write to ${dir}`, {
        hint: `Look for files in it that are not yours, then run: chmod go-w ${shellWord(dir)}`,
      });
    }
  }
}

/** The user of a process, from its environment. */
export function placeUser(process: { getuid?: () => number; readonly env: NodeJS.ProcessEnv }): PlaceUser | undefined {
  const uid = process.getuid?.();
  const sudo = process.env['SUDO_UID'] ?? '';
  return uid === undefined ? undefined : { uid, sudoUid: /^\d{1,10}$/.test(sudo) ? Number(sudo) : undefined };
}

type StatOf = (file: string) => Pick<Stats, 'uid' | 'mode'> | undefined;

function stat(file: string): Stats | undefined {
  return statSync(file, { throwIfNoEntry: false });
}

/** What is above a directory that does not exist. */
function nearest(dir: string, statOf: StatOf): ReturnType<StatOf> {
  for (let at = dir; ; at = path.dirname(at)) {
    const found = statOf(at);
    if (found !== undefined || at === path.dirname(at)) return found;
  }
}

function foreign(dir: string, owner: number, uid: number, variable: string): RunClaudeError {
  const hint =
    uid === 0
      ? 'Run it without sudo, or with the home directory of root (sudo -H).'
      : owner === 0
        ? `Was it made by a run as root? Look at what is in it, then make it yours, or set ${variable}.`
        : `Set ${variable} to your own directory.`;
  return new RunClaudeError('PLACE_FOREIGN', `${dir} belongs to user ${owner}, and this is user ${uid}`, { hint });
}
