import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError, usageError } from '../../core/errors.ts';
import { foldersAbove } from '../../core/text/path.ts';
import type { Selection } from '../../core/text/selection.ts';
import type { PlaceEntry } from '../../engines/engine/place.ts';

/** A file of the project that the setup reads, as it is now. */
export interface SetupFile {
  readonly path: string;
  readonly content: Buffer;
  readonly isExecutable: boolean;
}

const MAX_FILE_BYTES = 64 << 20;

/**
 * The named files of the project. Links are not followed, and what the session's rules keep out of the copy is not read:
 * a setup must not see more than the agent. `table` is that of the configuration that names them, for messages.
 *
 * @throws {RunClaudeError} USAGE for a file that does not exist, is not a regular file, or is excluded or masked
 */
export function readSetupFiles(
  root: string,
  names: readonly string[],
  selection: Selection,
  table = 'environment',
): SetupFile[] {
  return names.map((name) => {
    const refuse = (why: string): Error =>
      usageError(`${table}: files: ${name} ${why}`, 'Correct files in this table of your configuration.');
    if (selection.leftOut(name, false) || selection.masked(name))
      throw refuse('is excluded or masked (--unmask shows a file with secrets)');
    for (const at of foldersAbove(name)) if (selection.leftOut(at, true)) throw refuse('is excluded');
    return readSetupFile(root, name, refuse);
  });
}

/** By path, what names the content and the mode of each file; for one that no setup can read, that it cannot. */
export function setupFileDigests(root: string, names: readonly string[]): Readonly<Record<string, string>> {
  const digestAt = (name: string): string => {
    try {
      const { content, isExecutable } = readSetupFile(root, name, usageError);
      return `${isExecutable ? 'x' : '-'} ${createHash('sha256').update(content).digest('hex')}`;
    } catch (error) {
      if (error instanceof RunClaudeError) return 'unreadable';
      throw error;
    }
  };
  return Object.fromEntries(names.map((name) => [name, digestAt(name)]));
}

function readSetupFile(root: string, name: string, refuse: (why: string) => Error): SetupFile {
  for (const at of foldersAbove(name))
    if (lstatSync(path.join(root, at), { throwIfNoEntry: false })?.isDirectory() !== true)
      throw refuse('does not exist in the project, or is behind a link');
  return { path: name, ...readFile(path.join(root, name), refuse) };
}

function readFile(file: string, refuse: (why: string) => Error): Omit<SetupFile, 'path'> {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw refuse(code === 'ENOENT' ? 'does not exist in the project' : `cannot be read (${code ?? 'unknown error'})`);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw refuse('is not a regular file');
    if (stat.size > MAX_FILE_BYTES) throw refuse('is larger than 64 MB');
    return { content: readFileSync(fd), isExecutable: (stat.mode & 0o100) !== 0 };
  } finally {
    closeSync(fd);
  }
}

/** The files as entries of a place, with the directories that they are in. */
export function placeEntries(files: readonly SetupFile[]): PlaceEntry[] {
  const folders = new Set<string>();
  for (const { path: file } of files)
    for (let at = path.dirname(file); at !== '.'; at = path.dirname(at)) folders.add(at);
  return [
    ...[...folders].sort().map((folder): PlaceEntry => ({ path: folder, mode: 0o755, content: 'directory' })),
    ...files.map(
      (file): PlaceEntry => ({ path: file.path, mode: file.isExecutable ? 0o755 : 0o644, content: file.content }),
    ),
  ];
}

/** What a setup is made from. */
export interface SetupInputs {
  readonly setup: string;
  readonly env: Readonly<Record<string, string>>;
  readonly files: readonly SetupFile[];
  /** The address of the image, which names its packages. */
  readonly image: string;
  /** 'uid:gid' of what it makes. */
  readonly user: string;
  /** What it can reach. */
  readonly network: string;
  readonly networkPresets: readonly string[];
}

/** A project chooses the content: nobody may find two inputs with the same address. */
const ADDRESS_DIGITS = 32;

/** Whether a name is that of an environment. */
export function isAddress(name: string): boolean {
  return name.length === ADDRESS_DIGITS && /^[0-9a-f]+$/.test(name);
}

/** 32 hex digits that name the inputs. */
export function setupAddress(inputs: SetupInputs): string {
  const { setup, env, files, image, user, network, networkPresets } = inputs;
  const digestOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
  const variables = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1));
  const digests = files.map((file) => [file.path, file.isExecutable, digestOf(file.content)]);
  const canonical = JSON.stringify([2, image, user, network, [...networkPresets].sort(), setup, variables, digests]);
  return digestOf(Buffer.from(canonical)).slice(0, ADDRESS_DIGITS);
}
