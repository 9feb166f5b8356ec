import { closeSync, constants, openSync } from 'node:fs';
import { spawnSync } from '../../host/programs/start-program.ts';

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

/** Without getfattr the answer is yes: copying nothing does no harm. */
function hasAttributes(paths: readonly string[], cwd: string): boolean {
  if (paths.length === 0) return false;
  const listed = spawnSync('getfattr', ['--absolute-names', '-m', KEPT, '--', ...paths], {
    stdio: ['ignore', 'pipe', 'ignore'],
    cwd,
  });
  return listed.error !== undefined || listed.stdout.length > 0;
}
