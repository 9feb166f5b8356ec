import { existsSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../../../core/errors.ts';
import { idsInFiles, idsInSources } from '../../../core/host/accounts.ts';
import { readWholeJson, writeJsonAtomic } from '../../../core/store/record.ts';

/**
 * Numbers that no distribution, systemd or directory service gives to an account (systemd's UIDS-GIDS: 60706 to 61183 are
 * unused). They fit into every user namespace of 65,536 numbers.
 */
const FIRST = 61_100;
const LAST = 61_183;

const CANDIDATES: readonly number[] = Array.from({ length: LAST - FIRST + 1 }, (_, index) => FIRST + index);

/** The numbers of the gateway and the companions, and of helpers. Images have them. */
export const SERVANT_IDS = [61_000, 61_001] as const;

const FORMAT = 1;

/** What finds accounts, which tests replace. */
export interface AccountSearch {
  readonly inFiles: (ids: readonly number[]) => ReadonlySet<number>;
  readonly inSources: (ids: readonly number[]) => ReadonlySet<number>;
}

const MACHINE: AccountSearch = { inFiles: idsInFiles, inSources: idsInSources };

/**
 * A number that no account of this machine has as uid or gid: the agent's, where it can't have the number of the user.
 * The choice is stored in the state directory, so that it stays the same: the private copies belong to it. Only root asks
 * for the accounts of this machine: other users run agents under this number on other machines only.
 *
 * @throws {RunClaudeError} USER_NONE_SPARE where accounts have all numbers that it may choose; RECORD_UNREADABLE.
 */
export function findSpareId(stateDir: string, uid: number, accounts: AccountSearch = MACHINE): number {
  if (uid !== 0) return FIRST;
  const file = path.join(stateDir, 'agent-id.json');
  const inFiles = accounts.inFiles(CANDIDATES);
  const known = readChoice(file);
  if (known !== undefined && !inFiles.has(known)) return known;
  const open = CANDIDATES.filter((id) => !inFiles.has(id));
  const inSources = accounts.inSources(open);
  const id = open.find((one) => !inSources.has(one));
  if (id === undefined) {
    throw new RunClaudeError('USER_NONE_SPARE', `accounts of this machine have all numbers from ${FIRST} to ${LAST}`, {
      hint: 'Give one of these numbers back, or run run-claude as a user who is not root.',
    });
  }
  remember(file, id);
  return id;
}

/** What cannot be stored, as on a full disk, is chosen again by the next command: doctor has to work there. */
function remember(file: string, id: number): void {
  // Without a state directory, no session has used a number yet: a command that starts none makes no directory.
  if (!existsSync(path.dirname(file))) return;
  try {
    writeJsonAtomic(file, { version: FORMAT, id });
  } catch (error) {
    if (!(error instanceof RunClaudeError) || error.code !== 'RECORD_UNWRITABLE') throw error;
  }
}

/** Those of {@link SERVANT_IDS} that the files of this machine give to an account. */
export function servantIdsWithAccount(accounts: Pick<AccountSearch, 'inFiles'> = MACHINE): readonly number[] {
  return [...accounts.inFiles(SERVANT_IDS)];
}

/** Undefined where nothing was chosen, or where another release or a crash left what cannot be read: it is chosen again. */
function readChoice(file: string): number | undefined {
  const { version, id } = (readWholeJson(file) ?? {}) as Readonly<Record<string, unknown>>;
  return version === FORMAT && typeof id === 'number' && CANDIDATES.includes(id) ? id : undefined;
}
