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
import { removeTreeSync } from '../host/remove-tree.ts';
import { encodeBytes } from '../text/path.ts';
import type { ContentReader } from '../types/entry.ts';
import type { GitTrouble } from './compare.ts';
import type { BindSnapshot } from './snapshot.ts';
import { absolute, look } from './walk.ts';

export interface RestoreOptions {
  readonly root: string;
  readonly sessionDir: string;
  readonly before: BindSnapshot;
  readonly content: ContentReader;
}

/** Where things go that are taken out of the project. */
export function quarantineDir(sessionDir: string): string {
  return path.join(sessionDir, 'quarantine');
}

/**
 * Takes one trouble out of the project: what is there now goes into quarantine, what was there before comes back.
 * Gives a line for people. Throws what the disk says. Preconditions: the session's container has ended.
 */
export async function restoreTrouble(trouble: GitTrouble, options: RestoreOptions): Promise<string> {
  const { root } = options;
  if (trouble.kind === 'lost') return `${trouble.path}: ${trouble.why}; look at it before git runs there`;
  const bytes = await bytesBefore(trouble.path, options);
  const moved = look(root, trouble.path) === undefined ? undefined : quarantine(trouble.path, options);
  if (trouble.kind === 'planted') return `${trouble.path}: ${trouble.why}; moved to ${moved}`;
  putBack(trouble.path, bytes, options);
  return `${trouble.path}: ${trouble.why}; put back as it was${moved === undefined ? '' : `, the new one is ${moved}`}`;
}

async function bytesBefore(name: string, { before, content }: RestoreOptions): Promise<Buffer | undefined> {
  const digest = before.digests.get(name);
  return digest === undefined ? undefined : content.read(digest);
}

/** Moves an entry out of the project. Its name there is ours: the agent's may be any bytes. */
function quarantine(name: string, { root, sessionDir }: RestoreOptions): string {
  const dir = quarantineDir(sessionDir);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const target = path.join(dir, randomBytes(4).toString('hex'));
  refuseLinkedParents(root, name);
  const source = absolute(root, name);
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

/** Onto another file system: links stay links, nothing is followed; sockets, FIFOs and devices hold nothing. */
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
  makeFolders(parentOf(name), root, before);
  // Short, whatever the name's length.
  const ours = `.run-claude-${randomBytes(4).toString('hex')}`;
  const beside = absolute(root, parentOf(name) === '' ? ours : `${parentOf(name)}/${ours}`);
  const target = before.targets.get(name);
  if (bytes !== undefined) {
    writeFileSync(beside, bytes, { flag: 'wx', mode: 0o600 });
    // The order matters: chown takes setuid bits away.
    if (process.getuid?.() === 0) lchownSync(beside, old.uid, old.gid);
    chmodSync(beside, old.mode);
  } else if (target !== undefined) {
    symlinkSync(encodeBytes(target), beside);
    if (process.getuid?.() === 0) lchownSync(beside, old.uid, old.gid);
  } else return;
  renameSync(beside, absolute(root, name));
}

/** With the owners and modes that they had. */
function makeFolders(name: string, root: string, before: BindSnapshot): void {
  if (name === '' || look(root, name) !== undefined) return;
  makeFolders(parentOf(name), root, before);
  const old = before.entries.get(name);
  mkdirSync(absolute(root, name), { mode: old?.mode ?? 0o755 });
  if (old !== undefined && process.getuid?.() === 0) lchownSync(absolute(root, name), old.uid, old.gid);
}

/** What the agent put in a folder's place may lead anywhere: nothing is moved or written through a link. */
function refuseLinkedParents(root: string, name: string): void {
  for (let parent = parentOf(name); parent !== ''; parent = parentOf(parent)) {
    const seen = look(root, parent);
    if (seen !== undefined && seen.kind !== 'dir') throw new Error(`${parent} is no folder any more`);
  }
}

function parentOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('/')));
}
