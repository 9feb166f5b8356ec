import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import path from 'node:path';
import { parseConfig } from '../../../core/git/config-parse.ts';
import { type LfsPointer, lfsObjectPath } from '../../../core/git/lfs-pointer.ts';
import { listGlobalConfig } from '../../../core/host/git.ts';
import { hostGit } from '../host-git.ts';

/**
 * The directory in which git-lfs keeps the objects of the user's repository: `lfs.storage` of the repository or of the user,
 * or `lfs` in the git directory that its work trees share. It may not exist. Throws COMMITS_REFUSED where git cannot read
 * the repository.
 */
export async function lfsStore(place: string, env: NodeJS.ProcessEnv): Promise<string> {
  const common = hostGit(place, ['rev-parse', '--path-format=absolute', '--git-common-dir'])
    .toString()
    .replace(/\n$/, '');
  const named = storageOf(path.join(common, 'config')) ?? (await storageOfUser(place, env)) ?? 'lfs';
  return path.resolve(common, named.replace(/^~(?=\/|$)/, env['HOME'] ?? '~'));
}

function storageOf(config: string): string | undefined {
  if (!existsSync(config)) return undefined;
  const { entries } = parseConfig(readFileSync(config, 'utf8'));
  return entries.findLast(({ key }) => key === 'lfs.storage')?.value;
}

async function storageOfUser(place: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { stdout } = await listGlobalConfig(place, env);
  const rows = stdout.split('\0').filter((row) => row.startsWith('lfs.storage\n'));
  return rows.at(-1)?.slice('lfs.storage\n'.length);
}

/** The file of an object in a store; undefined where the store does not have it in full. */
export function lfsObjectIn(store: string, { oid, size }: LfsPointer): string | undefined {
  const file = path.join(store, lfsObjectPath(oid));
  const stat = lstatSync(file, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size === size ? file : undefined;
}

/** Copies a checked file into a store. It has its name when it is complete on the disk. */
export function addLfsObject(store: string, pointer: LfsPointer, file: string): void {
  if (lfsObjectIn(store, pointer) !== undefined) return;
  const target = path.join(store, lfsObjectPath(pointer.oid));
  const next = path.join(store, 'tmp', `run-claude-${randomBytes(8).toString('hex')}`);
  for (const dir of [path.dirname(target), path.dirname(next)]) mkdirSync(dir, { recursive: true });
  try {
    copyFileSync(file, next, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    flush(next);
    renameSync(next, target);
    flush(path.dirname(target));
  } finally {
    rmSync(next, { force: true });
  }
}

function flush(file: string): void {
  const opened = openSync(file, constants.O_RDONLY);
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
