import { RunClaudeError } from '../errors.ts';

/** Numbers of a user and a group. */
export interface UserIds {
  readonly uid: number;
  readonly gid: number;
}

/** The largest number of a user: the kernel reserves 2^32-1 for "no user". */
const MAX_ID = 2 ** 32 - 2;

/**
 * Numbers of 'uid:gid', as the engine takes it.
 * @throws {RunClaudeError} USER_INVALID when the text has any other form.
 */
export function parseUser(user: string): UserIds {
  const [, uid, gid] = /^(0|[1-9][0-9]{0,9}):(0|[1-9][0-9]{0,9})$/.exec(user) ?? [];
  const ids = { uid: Number(uid), gid: Number(gid) };
  if (ids.uid <= MAX_ID && ids.gid <= MAX_ID) return ids;
  throw new RunClaudeError('USER_INVALID', `${JSON.stringify(user)} is not a user of the form uid:gid`, {
    hint: 'The record of the session is damaged. Start another session.',
  });
}
