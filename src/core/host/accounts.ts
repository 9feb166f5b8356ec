import { readFileSync } from 'node:fs';
import { execFileSync } from './programs/start-program.ts';

/** Where the system's own lists of accounts are, and the program that asks every other source, such as LDAP. */
export interface AccountSources {
  readonly etc: string;
  /** An absolute path: a name would be searched in PATH. */
  readonly getent: string;
}

const SYSTEM: AccountSources = { etc: '/etc', getent: '/usr/bin/getent' };

const GETENT_TIMEOUT_MS = 10_000;

/** Which of `ids` are the number of a user or a group in this machine's files, or in a range that a user may map. */
export function idsInFiles(ids: readonly number[], { etc }: Pick<AccountSources, 'etc'> = SYSTEM): ReadonlySet<number> {
  const rows = (name: string): readonly (readonly string[])[] =>
    readText(`${etc}/${name}`)
      .split('\n')
      .map((line) => line.split(':'));
  const numbers = new Set([...rows('passwd'), ...rows('group')].map(([, , id]) => Number(id)));
  const ranges = [...rows('subuid'), ...rows('subgid')].map(([, first, count]) => [Number(first), Number(count)]);
  const isMapped = (id: number): boolean => ranges.some(([first = 0, count = 0]) => id >= first && id < first + count);
  return new Set(ids.filter((id) => numbers.has(id) || isMapped(id)));
}

/**
 * As {@link idsInFiles}, in every source that this machine takes accounts from, except for ranges. A source that does not
 * answer has none.
 */
export function idsInSources(
  ids: readonly number[],
  { getent }: Pick<AccountSources, 'getent'> = SYSTEM,
): ReadonlySet<number> {
  const numbers = new Set(
    ['passwd', 'group'].flatMap((database) =>
      askSource(getent, [database, ...ids.map(String)])
        .split('\n')
        .map((line) => Number(line.split(':')[2])),
    ),
  );
  return new Set(ids.filter((id) => numbers.has(id)));
}

/** Ends with 2 where it does not find all of them. */
function askSource(getent: string, words: readonly string[]): string {
  try {
    return execFileSync(getent, words, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: GETENT_TIMEOUT_MS,
      env: {},
    });
  } catch (error) {
    const { stdout } = error as { readonly stdout?: unknown };
    return typeof stdout === 'string' ? stdout : '';
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Not every system has each of them.
    return '';
  }
}
