import { randomBytes } from 'node:crypto';
import { chmodSync, cpSync, lchownSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ContentReader } from '../types/entry.ts';
import { encodeBytes } from '../types/path.ts';
import type { GitTrouble } from './bind-compare.ts';
import type { BindSnapshot } from './bind-snapshot.ts';
import { absolute, look } from './bind-walk.ts';

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
  const source = absolute(root, name);
  try {
    renameSync(source, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    // Another file system: links stay links, and nothing is followed.
    cpSync(`${root}/${name}`, target, { recursive: true, verbatimSymlinks: true, dereference: false });
    rmSync(source, { recursive: true, force: true });
  }
  writeFileSync(`${target}.path`, encodeBytes(name), { mode: 0o600 });
  return target;
}

function putBack(name: string, bytes: Buffer | undefined, { root, before }: RestoreOptions): void {
  const old = before.entries.get(name);
  if (old === undefined) return;
  mkdirSync(absolute(root, path.dirname(name) === '.' ? '' : path.dirname(name)), { recursive: true });
  const beside = absolute(root, `${name}.run-claude-${randomBytes(4).toString('hex')}`);
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
