import { closeSync, constants, openSync } from 'node:fs';
import { spawnSync } from '../../../core/host/programs/start-program.ts';
import { decodeBytes } from '../../../core/text/path.ts';

/** Access lists, and attributes that the user's programs set. The kernel and SELinux set their own on the new file. */
const KEPT = '^(user\\.|system\\.posix_acl)';

/**
 * Gives a new open file the extended attributes and access list of the file that it will replace. Node has no call
 * for them: GNU getfattr and cp do it, on our descriptors (/proc/PID/fd), so no name is looked up again.
 * Throws when there is something to keep and it cannot be kept. Elsewhere than on Linux it does nothing.
 */
export function copyAttributes(target: Buffer, newFile: number): void {
  if (process.platform !== 'linux') return;
  const old = openSync(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const [from, to] = [`/proc/${process.pid}/fd/${old}`, `/proc/${process.pid}/fd/${newFile}`];
    if (!hasAttributes([from], '/')) return;
    const words = ['--attributes-only', '--dereference', '--preserve=mode,xattr', '--', from, to];
    const copied = spawnSync('cp', words, { stdio: 'ignore', cwd: '/' });
    if (copied.status !== 0) throw new Error('its access list or extended attributes cannot be kept');
  } finally {
    closeSync(old);
  }
}

const MAX_BATCH_PATHS = 200;
/** Of a batch: names of 4 KiB, and lists with hundreds of entries. */
const MAX_LISTED_BYTES = 64 << 20;
/** Bytes that are not valid UTF-8 (text/path.ts): Node cannot pass them in the arguments of a process. */
const NOT_TEXT = /\p{Cs}/u;

/**
 * Which of these files of the project may have extended attributes or an access list: those of a batch in which any
 * has. Asked once for all, because a process for each file would take longer than the apply itself.
 */
export function mayHaveAttributes(project: string, paths: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  if (process.platform !== 'linux') return found;
  for (let at = 0; at < paths.length; at += MAX_BATCH_PATHS) {
    const batch = paths.slice(at, at + MAX_BATCH_PATHS);
    const plain = batch.filter((path) => !NOT_TEXT.test(path));
    for (const path of batch) if (NOT_TEXT.test(path)) found.add(path);
    if (
      hasAttributes(
        plain.map((path) => `./${path}`),
        project,
      )
    )
      for (const path of plain) found.add(path);
  }
  return found;
}

/**
 * The permission bits that the default access list of each of these folders leaves a new entry, in place of a umask; a
 * folder without such a list is left out. Asked once for all, as above. Without getfattr none has one.
 */
export function defaultAccess(project: string, folders: readonly string[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  if (process.platform !== 'linux') return found;
  const plain = folders.filter((folder) => !NOT_TEXT.test(folder));
  for (let at = 0; at < plain.length; at += MAX_BATCH_PATHS) {
    const batch = plain.slice(at, at + MAX_BATCH_PATHS).map((folder) => `./${folder}`);
    const words = ['--absolute-names', '-e', 'hex', '-n', 'system.posix_acl_default', '--', ...batch];
    const { stdout } = spawnSync('getfattr', words, {
      stdio: ['ignore', 'pipe', 'ignore'],
      cwd: project,
      maxBuffer: MAX_LISTED_BYTES,
    });
    for (const [name, list] of readLists(stdout?.toString('latin1') ?? '')) found.set(name, accessBits(list));
  }
  return found;
}

const LISTED = /^# file: \.\/(.*)\nsystem\.posix_acl_default=0x([0-9a-f]+)$/gm;

/** Names are bytes, of which getfattr writes some as \\ooo. */
function readLists(output: string): [string, Buffer][] {
  return [...output.matchAll(LISTED)].map(([, name = '', hex = '']) => {
    const bytes = name.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
    return [decodeBytes(Buffer.from(bytes, 'latin1')), Buffer.from(hex, 'hex')];
  });
}

/** acl(5): who an entry is for. The mask stands for the group where there is one. */
const ACL = { owner: 0x01, group: 0x04, mask: 0x10, other: 0x20 } as const;
const ACL_HEADER_BYTES = 4;
const ACL_ENTRY_BYTES = 8;

function accessBits(list: Buffer): number {
  const bits = new Map<number, number>();
  for (let at = ACL_HEADER_BYTES; at + ACL_ENTRY_BYTES <= list.length; at += ACL_ENTRY_BYTES)
    bits.set(list.readUInt16LE(at), list.readUInt16LE(at + 2) & 0o7);
  const of = (who: number): number => bits.get(who) ?? 0;
  return (of(ACL.owner) << 6) | ((bits.get(ACL.mask) ?? of(ACL.group)) << 3) | of(ACL.other);
}

/** Without getfattr the answer is yes: copying nothing does no harm. */
function hasAttributes(paths: readonly string[], cwd: string): boolean {
  if (paths.length === 0) return false;
  const listed = spawnSync('getfattr', ['--absolute-names', '-m', KEPT, '--', ...paths], {
    stdio: ['ignore', 'pipe', 'ignore'],
    cwd,
  });
  return listed.error !== undefined || listed.stdout.length > 0;
}
