import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../../errors.ts';
import { execFile, spawn, spawnSync } from '../programs/start-program.ts';

// A tree that an agent wrote may have closed directories, names of any bytes, and be deeper than a path can name. The
// files of a generation may be hard links of another generation. So only directories are opened, never a file, and no
// symbolic link is followed.

/** Absolute; a Buffer where the name is not UTF-8. */
type AbsolutePath = string | Buffer;

export interface RemoveOptions {
  /** Opens the directory above when it is closed. Only for a directory that run-claude made. */
  readonly opensParent?: boolean;
}

/**
 * Removes a tree. No error when there is none.
 * @throws {RunClaudeError} REMOVE_FAILED when an entry stays.
 */
export function removeTreeSync(tree: AbsolutePath, { opensParent = false }: RemoveOptions = {}): void {
  try {
    rmSync(tree, { recursive: true, force: true });
    return;
  } catch (error) {
    if (!isRemovable(error)) throw error;
  }
  try {
    if (opensParent) openDirectory(parentOf(tree));
    openDirectories(tree);
    rmSync(tree, { recursive: true, force: true });
    return;
  } catch (error) {
    if (!isRemovable(error)) throw error;
  }
  const { status } = spawnSync('/bin/sh', ['-c', REMOVE_TREE, 'sh', escapeBytes(tree)], {
    stdio: 'ignore',
    env: programEnvironment(),
  });
  if (status !== 0) throw removeFailed(tree);
}

/** As {@link removeTreeSync}, in another process: this one goes on. */
export async function removeTree(tree: AbsolutePath): Promise<void> {
  // Most trees are removed by rm alone, without a shell.
  if (typeof tree === 'string' && (await succeeds('rm', ['-rf', '--', tree]))) return;
  if (!(await succeeds('/bin/sh', ['-c', REMOVE_TREE, 'sh', escapeBytes(tree)]))) throw removeFailed(tree);
}

function succeeds(program: string, args: readonly string[]): Promise<boolean> {
  const options = { env: programEnvironment(), maxBuffer: Number.POSITIVE_INFINITY };
  return new Promise((resolve) => {
    execFile(program, args, options, (error) => resolve(error === null));
  });
}

/** Starts to remove the entries of a directory. Does not wait, and reports no error: the next call retries. */
export function removeEntriesInBackground(dir: string): void {
  spawn('/bin/sh', ['-c', REMOVE_ENTRIES], { cwd: dir, stdio: 'ignore', env: programEnvironment() })
    .on('error', () => undefined)
    .unref();
}

/** Gives the owner of a directory all rights to it. False when there is no directory; a link is not followed. */
export function openDirectory(dir: AbsolutePath): boolean {
  if (lstatSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  chmodSync(dir, 0o700);
  return true;
}

function openDirectories(dir: AbsolutePath): void {
  if (!openDirectory(dir)) return;
  for (const entry of readdirSync(dir, { withFileTypes: true, encoding: 'buffer' })) {
    if (entry.isDirectory()) openDirectories(Buffer.concat([Buffer.from(dir), Buffer.from('/'), entry.name]));
  }
}

function parentOf(tree: AbsolutePath): AbsolutePath {
  return typeof tree === 'string' ? path.dirname(tree) : tree.subarray(0, Math.max(1, tree.lastIndexOf('/')));
}

/** Whether the next way to remove the tree may succeed. */
function isRemovable(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'ENAMETOOLONG', 'ENOTEMPTY'].includes((error as NodeJS.ErrnoException).code ?? '');
}

// find, chmod and rm of the system walk by descriptors: a path may be longer than PATH_MAX. -execdir names each
// directory from the one above.
const OPEN = 'find "$one" -type d ! -perm -700 -execdir chmod u+rwx {} ";"';
const REMOVE_ONE = `rm -rf -- "$one" 2>/dev/null || { ${OPEN}; rm -rf -- "$one"; }`;

/** The argument has escaped bytes, because an argument of Node cannot hold all of them. */
const REMOVE_TREE = `one=$(printf "$1."); one=\${one%.}; ${REMOVE_ONE}`;
const REMOVE_ENTRIES = `for one in ./* ./.[!.]* ./..?*; do ${REMOVE_ONE}; done`;

function escapeBytes(tree: AbsolutePath): string {
  return [...Buffer.from(tree)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}

/** find -execdir refuses a PATH with relative directories. */
function programEnvironment(): NodeJS.ProcessEnv {
  const found = (process.env['PATH'] ?? '').split(':').filter((dir) => path.isAbsolute(dir));
  return { PATH: [...found, '/usr/bin', '/bin'].join(':'), LC_ALL: 'C' };
}

function removeFailed(tree: AbsolutePath): RunClaudeError {
  return new RunClaudeError('REMOVE_FAILED', `cannot remove ${tree}`, {
    hint: 'It may hold files of another user. Remove it as root.',
  });
}
