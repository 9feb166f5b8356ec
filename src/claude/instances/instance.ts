import { createHash } from 'node:crypto';
import { lstat, open, readdir, readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { RunClaudeError } from '../../errors.ts';
import { makePrivateDir, writeFileAtomic } from '../../store/record.ts';
import { mountPointOf } from './mount-point.ts';

/** Where one project's Claude data lives on this host: history, memory, plans and transcripts of its sessions. */
export interface Instance {
  readonly key: string;
  readonly dir: string;
  /** What the key was made of. */
  readonly root: string;
}

/** The folder of transcripts inside, for a session that works in /workspace; the instance uses the same name. */
export const INSIDE_KEY = '-workspace';

/**
 * The path that stands for a project: its git common directory's parent when that is named `.git` (so worktrees share
 * it), the common directory itself otherwise, the project's own real path without git.
 */
export function instanceRoot(projectRoot: string, gitCommonDir: string | undefined): string {
  if (gitCommonDir === undefined) return projectRoot;
  return basename(gitCommonDir) === '.git' ? dirname(gitCommonDir) : gitCommonDir;
}

/** 16 hex digits of the SHA-256 of the root. */
export function instanceKey(root: string): string {
  return createHash('sha256').update(root).digest('hex').slice(0, 16);
}

/**
 * Finds or makes the instance of a project. The recorded root must be the one that gave the key: a directory that
 * says otherwise was tampered with. Throws RunClaudeError INSTANCE_FOREIGN, RECORD_UNWRITABLE.
 */
export async function openInstance(dataDir: string, projectRoot: string, gitCommonDir?: string): Promise<Instance> {
  const root = instanceRoot(await realpath(projectRoot), gitCommonDir && (await realpath(gitCommonDir)));
  const key = instanceKey(root);
  const dir = join(dataDir, 'projects', key);
  const facts = await lstat(dir).catch(() => undefined);
  if (facts !== undefined && !facts.isDirectory()) throw foreign(dir);
  makePrivateDir(dir);
  const recorded = await readRoot(dir);
  if (recorded === undefined) writeFileAtomic(join(dir, 'project-root'), `${root}\n`);
  else if (recorded !== root) throw foreign(dir);
  // For gc: a project that is absent together with its drive is not gone.
  writeFileAtomic(join(dir, 'mount-point'), `${await mountPointOf(root)}\n`);
  return { key, dir, root };
}

function foreign(dir: string): RunClaudeError {
  return new RunClaudeError('INSTANCE_FOREIGN', `${dir} does not belong to this project`, {
    hint: 'Move it away; its project-root file names the project that it was made for.',
  });
}

/** The recorded root of an instance directory, or undefined when there is none. */
export async function readRoot(dir: string): Promise<string | undefined> {
  const text = await readOwnFile(join(dir, 'project-root'), 1 << 16);
  return text === undefined ? undefined : text.toString('utf8').replace(/\n$/, '');
}

/** A plain file of ours, not through a link; undefined when there is none or it is larger than `max`. */
export async function readOwnFile(path: string, max: number): Promise<Buffer | undefined> {
  const facts = await lstat(path).catch(() => undefined);
  if (facts === undefined || !facts.isFile() || facts.size > max) return undefined;
  return readFile(path);
}

/** Names of the plain files in a directory of an instance; empty when it is no directory. */
export async function ownFiles(dir: string): Promise<string[]> {
  const names = await readdir(dir, { withFileTypes: true }).catch(() => []);
  return names.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

/** Appends to a file of ours and waits for the disk. */
export async function appendDurably(path: string, content: string | Buffer): Promise<void> {
  makePrivateDir(dirname(path));
  const file = await open(path, 'a', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}
