import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { release } from 'node:os';
import { placeUser } from '../../core/host/files/own-places.ts';

// Whose program a connection to a page is. A cookie reaches every port of its host name, so a page can lead the browser to a
// port where another user's program takes the token. That program may not use it: its connections have another owner. A
// program of the same user needs no such way, since it can read the session's files.

/** Reads of the tables before a connection counts as missing: while one is read, others come and go. */
const MAX_READS = 3;
const ROOT = 0;
/** In /proc/self/loginuid of a process that no login has started. */
const NO_LOGIN = 4_294_967_295;

/** Both ends of a connection of this machine. */
export interface Ends {
  /** Of the other side. */
  readonly remotePort: number;
  readonly localPort: number;
}

/**
 * Whether a connection of loopback is that of another user of this machine. False where the system does not tell: on macOS,
 * where /proc is closed, and for programs of Windows under WSL.
 */
export function isForeignPeer({ remotePort, localPort }: Pick<Socket, 'remotePort' | 'localPort'>): boolean {
  if (process.platform !== 'linux') return false;
  if (remotePort === undefined || localPort === undefined) return true;
  const isWsl = release().toLowerCase().includes('microsoft');
  for (let reads = 0; reads < MAX_READS; reads++) {
    const tables = readTables();
    if (tables === undefined) return false;
    const owners = ownersOf({ remotePort, localPort }, tables);
    if (owners.length > 0) return owners.some((uid) => uid === undefined || !pageUsers().has(uid));
  }
  return !isWsl;
}

/**
 * The users of all sockets that may be the other end, by the tables of proc_net_tcp(5); undefined for one that no process has
 * any more, which the kernel lists as root's.
 */
export function ownersOf({ remotePort, localPort }: Ends, tables: string): readonly (number | undefined)[] {
  const [from, to] = [hexPort(remotePort), hexPort(localPort)];
  return tables.split('\n').flatMap((line) => {
    const [, local = '', remote = '', , , , , uid, , inode] = line.trim().split(/\s+/);
    if (!local.endsWith(`:${from}`) || !remote.endsWith(`:${to}`)) return [];
    return [inode === '0' ? undefined : Number(uid)];
  });
}

function hexPort(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}

function readTables(): string | undefined {
  try {
    return `${readFileSync('/proc/net/tcp', 'latin1')}\n${readIfThere('/proc/net/tcp6') ?? ''}`;
  } catch {
    return undefined;
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return undefined;
  }
}

/** Who may open a page: the user, root, and who became the user by sudo or su. */
function pageUsers(): ReadonlySet<number> {
  const { uid, sudoUid } = placeUser(process) ?? { uid: ROOT, sudoUid: undefined };
  const login = Number(readIfThere('/proc/self/loginuid') || NO_LOGIN);
  return new Set([ROOT, uid, ...(sudoUid === undefined ? [] : [sudoUid]), ...(login === NO_LOGIN ? [] : [login])]);
}
