import { createHash } from 'node:crypto';
import { lstat, open, readdir, readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { RunClaudeError } from '../../../core/errors.ts';
import { makePrivateDir, writeFileAtomic } from '../../../core/store/record.ts';
import { mountPointOf } from './mount-point.ts';

/** The directory on this host with the Claude data of one project: history, memory, plans, transcripts of its sessions. */
export interface Instance {
  readonly key: string;
  readonly dir: string;
  /** The path from which the key is made. */
  readonly root: string;
}

/** The folder of transcripts inside, where a session works in /workspace. The instance uses the same name. */
export const INSIDE_KEY = '-workspace';

/**
 * The path that identifies a project. With git: the parent of the git common directory when that is named `.git`, so that
 * worktrees share it; otherwise the common directory. Without git: the project's real path.
 */
export function instanceRoot(projectRoot: string, gitCommonDir: string | undefined): string {
  if (gitCommonDir === undefined) return projectRoot;
  return basename(gitCommonDir) === '.git' ? dirname(gitCommonDir) : gitCommonDir;
}

/** 16 hex digits of the SHA-256 of the root. */
export function instanceKey(root: string): string {
  return createHash('sha256').update(root).digest('hex').slice(0, 16);
}

/** The instance of a project, which may not have been made yet. Writes nothing. */
export async function instanceOf(dataDir: string, projectRoot: string, gitCommonDir?: string): Promise<Instance> {
  const root = instanceRoot(await realpath(projectRoot), gitCommonDir && (await realpath(gitCommonDir)));
  const key = instanceKey(root);
  return { key, dir: join(dataDir, 'projects', key), root };
}

/**
 * Finds or makes the instance of a project.
 *
 * @throws {RunClaudeError} INSTANCE_FOREIGN when the recorded root is not the project's: the directory was tampered with;
 * RECORD_UNWRITABLE
 */
export async function openInstance(dataDir: string, projectRoot: string, gitCommonDir?: string): Promise<Instance> {
  const instance = await instanceOf(dataDir, projectRoot, gitCommonDir);
  const { dir, root } = instance;
  const facts = await lstat(dir).catch(() => undefined);
  if (facts !== undefined && !facts.isDirectory()) throw foreign(dir);
  makePrivateDir(dir);
  const recorded = await readRoot(dir);
  if (recorded === undefined) writeFileAtomic(join(dir, 'project-root'), `${root}\n`);
  else if (recorded !== root) throw foreign(dir);
  // For gc: a project that is absent because its drive is not mounted must keep its data.
  writeFileAtomic(join(dir, 'mount-point'), `${await mountPointOf(root)}\n`);
  return instance;
}

function foreign(dir: string): RunClaudeError {
  return new RunClaudeError('INSTANCE_FOREIGN', `${dir} does not belong to this project`, {
    hint: 'Move it away. Its file project-root names the project that it was made for.',
  });
}

/** The recorded root of an instance directory; undefined when there is none. */
export async function readRoot(dir: string): Promise<string | undefined> {
  const text = await readOwnFile(join(dir, 'project-root'), 1 << 16);
  return text === undefined ? undefined : text.toString('utf8').replace(/\n$/, '');
}

/** The content of a regular file, not through a link; undefined when there is none or it is larger than `max` bytes. */
export async function readOwnFile(path: string, max: number): Promise<Buffer | undefined> {
  const facts = await lstat(path).catch(() => undefined);
  if (facts === undefined || !facts.isFile() || facts.size > max) return undefined;
  return readFile(path);
}

/** The names of the regular files in a directory; empty when it is not a directory. */
export async function ownFiles(dir: string): Promise<string[]> {
  const names = await readdir(dir, { withFileTypes: true }).catch(() => []);
  return names.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

/** Appends to a file and waits until it is on disk. */
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
