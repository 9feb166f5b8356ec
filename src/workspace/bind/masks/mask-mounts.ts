import { chmodSync, chownSync, lstatSync, realpathSync, rmSync } from 'node:fs';
import { parseUser } from '../../../core/host/user.ts';
import { nameOfPath } from '../../../core/text/path.ts';
import type { Mount } from '../../../core/types/engine.ts';
import type { Plan } from '../../../core/types/plan.ts';
import { writeMounted } from '../private-git.ts';
import { absolutePath, type HostEntry } from '../scan-project.ts';
import { unwatchedError } from './breach.ts';
import { targetOf } from './mask-guard.ts';
import { type MaskedFile, maskFile, writeMaskRecord } from './mask-record.ts';

/** The regular files that `--mask` names. Where a link has such a name, the file of the project that it leads to. */
export function filesOfMask(
  root: string,
  entries: ReadonlyMap<string, HostEntry>,
  masked: (path: string) => boolean,
): MaskedFile[] {
  const found = new Map<string, MaskedFile>();
  const add = (path: string): void => {
    const entry = entries.get(path);
    if (entry?.kind === 'file') found.set(path, { path, text: Buffer.alloc(0), mode: entry.mode });
  };
  for (const [path, { kind }] of entries) {
    if ((kind !== 'file' && kind !== 'symlink') || !masked(path)) continue;
    if (kind === 'file') add(path);
    else add(targetInside(root, path) ?? '');
  }
  return [...found.values()];
}

/** The masked files, and each other name of the same file in the project: a second name shows the same content. Pure. */
export function withOtherNames(files: readonly MaskedFile[], entries: ReadonlyMap<string, HostEntry>): MaskedFile[] {
  const byInode = new Map(files.map((file) => [entries.get(file.path)?.ino, file]));
  const named = new Set(files.map(({ path }) => path));
  const others = [...entries].flatMap(([path, { kind, ino }]) => {
    const same = kind === 'file' && !named.has(path) ? byInode.get(ino) : undefined;
    return same === undefined ? [] : [{ ...same, path }];
  });
  return [...files, ...others];
}

/**
 * The mounts that put each masked text over its file. The agent may write to what is mounted, which is a file of the
 * session's own directory: the user's file never changes.
 *
 * @throws {RunClaudeError} MASK_UNWATCHED for a name that an engine cannot be given
 */
export function mountMasks({ project, sessionDir, user }: Plan, files: readonly MaskedFile[]): Mount[] {
  const mounts = files.map(({ path, text, mode }, number) => {
    // Engines take names as text. Over a file that does not exist a mount would make one in the project.
    if (/[\udc80-\udcff]/.test(path)) throw unwatchedError(`the name of ${path} is not UTF-8, so nothing can cover it`);
    if (lstatSync(absolutePath(project.root, path), { throwIfNoEntry: false })?.isFile() !== true)
      throw unwatchedError(`${path} was deleted while the session started`);
    const source = maskFile(sessionDir, number);
    rmSync(source, { force: true });
    writeMounted(sessionDir, nameOfPath(source), text);
    give(source, user, mode);
    return { kind: 'bind', source, target: targetOf(path), readonly: false } as const;
  });
  if (files.length > 0) writeMaskRecord(sessionDir, files);
  return mounts;
}

/** To the agent's user, with the mode of the user's file; readable for all where that user cannot own it. */
function give(file: string, user: string, mode: number): void {
  const { uid, gid } = parseUser(user);
  const own = process.getuid?.();
  if (own === 0) chownSync(file, uid, gid);
  chmodSync(file, (mode & 0o777) | (own === 0 || own === uid ? 0 : 0o444));
}

/** Where a link leads, from the project's root; undefined outside of it. */
function targetInside(root: string, path: string): string | undefined {
  try {
    const target = realpathSync(absolutePath(root, path)).toString();
    const top = `${realpathSync(root)}/`;
    return target.startsWith(top) ? target.slice(top.length) : undefined;
  } catch {
    // A link that leads nowhere shows nothing.
    return undefined;
  }
}
