import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  constants,
  copyFileSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { removeTreeSync } from '../../core/host/files/remove-tree.ts';
import { encodeBytes, parentPath } from '../../core/text/path.ts';
import type { GitDifference } from './compare.ts';
import { absolutePath, statEntry } from './scan-project.ts';
import { type BindSnapshot, readKept } from './snapshot.ts';

export interface RestoreOptions {
  readonly root: string;
  readonly sessionDir: string;
  readonly before: BindSnapshot;
}

/** The directory to which entries of the project are moved. */
export function quarantineDir(sessionDir: string): string {
  return path.join(sessionDir, 'quarantine');
}

/**
 * Removes one difference from the project: what is there now is moved to quarantine, what was there before is restored.
 * Returns a line for the user. Throws errors of the disk. Precondition: the session's container has ended.
 */
export async function restoreDifference(difference: GitDifference, options: RestoreOptions): Promise<string> {
  const { root } = options;
  if (difference.kind === 'lost') return `${difference.path}: ${difference.why}; check it before git runs there`;
  const bytes = await readKept(options.sessionDir, options.before, difference.path);
  const moved = statEntry(root, difference.path) === undefined ? undefined : quarantine(difference.path, options);
  if (difference.kind === 'planted') return `${difference.path}: ${difference.why}; moved to ${moved}`;
  putBack(difference.path, bytes, options);
  return `${difference.path}: ${difference.why}; restored${moved === undefined ? '' : `, the new one is ${moved}`}`;
}

/** Moves an entry out of the project, to a random name: the agent's name may be any bytes. Returns the new path. */
function quarantine(name: string, { root, sessionDir }: RestoreOptions): string {
  const dir = quarantineDir(sessionDir);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const target = path.join(dir, randomBytes(4).toString('hex'));
  refuseLinkedParents(root, name);
  const source = absolutePath(root, name);
  try {
    renameSync(source, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    copyOut(source, Buffer.from(target));
    removeTreeSync(source);
  }
  writeFileSync(`${target}.path`, encodeBytes(name), { mode: 0o600 });
  return target;
}

/** Copies to another file system. Links stay links, none is followed; sockets, FIFOs and devices have no content. */
function copyOut(source: Buffer, target: Buffer): void {
  const stat = lstatSync(source);
  if (stat.isSymbolicLink()) symlinkSync(readlinkSync(source, { encoding: 'buffer' }), target);
  else if (stat.isFile()) copyFileSync(source, target, constants.COPYFILE_EXCL);
  else if (stat.isDirectory()) {
    mkdirSync(target, { mode: 0o700 });
    const slash = Buffer.from('/');
    for (const child of readdirSync(source, { encoding: 'buffer' })) {
      copyOut(Buffer.concat([source, slash, child]), Buffer.concat([target, slash, child]));
    }
  }
}

function putBack(name: string, bytes: Buffer | undefined, { root, before }: RestoreOptions): void {
  const old = before.entries.get(name);
  if (old === undefined) return;
  refuseLinkedParents(root, name);
  makeFolders(parentPath(name), root, before);
  // Short: the name itself may have the longest length there is.
  const temporary = `.run-claude-${randomBytes(4).toString('hex')}`;
  const temporaryPath = absolutePath(root, parentPath(name) === '' ? temporary : `${parentPath(name)}/${temporary}`);
  const target = before.targets.get(name);
  if (bytes !== undefined) {
    writeFileSync(temporaryPath, bytes, { flag: 'wx', mode: 0o600 });
    // In this order: chown clears setuid bits.
    if (process.getuid?.() === 0) lchownSync(temporaryPath, old.uid, old.gid);
    chmodSync(temporaryPath, old.mode);
  } else if (target !== undefined) {
    symlinkSync(encodeBytes(target), temporaryPath);
    if (process.getuid?.() === 0) lchownSync(temporaryPath, old.uid, old.gid);
  } else return;
  renameSync(temporaryPath, absolutePath(root, name));
}

/** Makes the folders of a path, with the owners and modes that they had. */
function makeFolders(name: string, root: string, before: BindSnapshot): void {
  if (name === '' || statEntry(root, name) !== undefined) return;
  makeFolders(parentPath(name), root, before);
  const old = before.entries.get(name);
  mkdirSync(absolutePath(root, name), { mode: old?.mode ?? 0o755 });
  if (old !== undefined && process.getuid?.() === 0) lchownSync(absolutePath(root, name), old.uid, old.gid);
}

/** Throws where the agent has put a link in the place of a folder: nothing is moved or written through one. */
function refuseLinkedParents(root: string, name: string): void {
  for (let parent = parentPath(name); parent !== ''; parent = parentPath(parent)) {
    const seen = statEntry(root, parent);
    if (seen !== undefined && seen.kind !== 'dir') throw new Error(`${parent} is no longer a folder`);
  }
}
