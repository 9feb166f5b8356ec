import * as node from 'node:child_process';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { AgentFolders, realFolderOf } from './agent-folders.ts';
import { isGuardFolder } from './guard-folder.ts';
import { outsideEnvironment } from './outside-environment.ts';

/**
 * The one door through which run-claude starts programs of this machine: the functions of node:child_process, with the
 * program and the environment from outside of every folder that an agent can write. A program that is found only in such
 * a folder does not start (ENOENT).
 */

/** The folders of this process's agents. Commands add theirs by {@link distrust}. */
export const agentFolders = new AgentFolders();

/** Adds folders that an agent can write, and removes them from this process's own environment. */
export function distrust(folders: Iterable<string>, identities: Iterable<string> = []): void {
  if (!agentFolders.add(folders, identities)) return;
  found.clear();
  const { env, dropped } = outsideEnvironment(process.env, agentFolders);
  for (const name of dropped) delete process.env[name];
  if (env['PATH'] !== undefined) process.env['PATH'] = env['PATH'];
}

/** Where PATH has a program, and the place in which it was refused. */
interface Found {
  readonly file: string | undefined;
  readonly refused: string | undefined;
}

/** What was found, by PATH and name. */
const found = new Map<string, Found>();

/**
 * The absolute path of a program by its name, or of a path. Undefined where it does not exist outside.
 * Names are not followed to the end: programs that many links lead to ask for the name by which they were started.
 */
export function programFile(named: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  return find(named, env['PATH'] ?? DEFAULT_PATH).file;
}

/** What to do where a program does not start: it is not installed, or only where an agent can write. */
export function missingProgramHint(named: string): string {
  const { file, refused } = find(named, originalPath);
  if (file !== undefined || refused === undefined) return `Install ${named}.`;
  return `${refused} is not used, because an agent can write there. Install ${named} outside of the project.`;
}

/** The user's environment as it was at the start. */
const inherited: Readonly<NodeJS.ProcessEnv> = { ...process.env };

/** PATH as it was at the start: for what the user's own shell would find. */
export const originalPath = inherited['PATH'] ?? '';

/** As execvp(3) searches without PATH. */
const DEFAULT_PATH = '/usr/bin:/bin';

function find(named: string, searched: string): Found {
  const key = `${searched}\0${named}`;
  const known = found.get(key);
  if (known !== undefined) return known;
  const result = named.includes('/')
    ? candidate(named)
    : first(searched.split(':').map((dir) => (isSearched(dir) ? candidate(path.join(dir, named)) : NOT_FOUND)));
  found.set(key, result);
  return result;
}

/** A guard folder is for programs that others start: here each candidate is checked by itself. */
const isSearched = (dir: string): boolean => path.isAbsolute(dir) && !isGuardFolder(dir);

const NOT_FOUND: Found = { file: undefined, refused: undefined };

function first(candidates: readonly Found[]): Found {
  return candidates.find(({ file }) => file !== undefined) ?? candidates.find(({ refused }) => refused) ?? NOT_FOUND;
}

function candidate(file: string): Found {
  const real = path.isAbsolute(file) ? agentFolders.resolve(file) : 'inside';
  if (real === 'inside') return existsSync(file) ? { file: undefined, refused: file } : NOT_FOUND;
  if (real === undefined || !isExecutable(real)) return NOT_FOUND;
  const folder = agentFolders.resolve(path.dirname(file));
  return folder === undefined ? NOT_FOUND : { file: path.join(folder, path.basename(file)), refused: undefined };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Nothing has this path: the start of the program fails with ENOENT, and the message has the program's name. */
const NOWHERE = '/nonexistent';

interface StartOptions {
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** The arguments of a function of node:child_process that starts a program, from outside. */
function outside([named, ...others]: readonly unknown[]): unknown[] {
  const at = others.findIndex((one) => typeof one === 'object' && one !== null && !Array.isArray(one));
  const options = (at === -1 ? {} : others[at]) as StartOptions;
  const { env, dropped } = outsideEnvironment(options.env ?? process.env, agentFolders);
  // What run-claude itself sets for a program is its own: an index file in the session's directory, a work tree.
  for (const name of dropped) {
    const value = options.env?.[name];
    if (value !== undefined && value !== inherited[name]) env[name] = value;
  }
  const program = String(named);
  const file = program === process.execPath ? program : (programFile(program, env) ?? path.join(NOWHERE, program));
  const checked = { ...options, env };
  if (at !== -1) return [file, ...others.slice(0, at), checked, ...others.slice(at + 1)];
  const words = Array.isArray(others[0]) ? 1 : 0;
  return [file, ...others.slice(0, words), checked, ...others.slice(words)];
}

type Start = (...args: readonly unknown[]) => unknown;

function fromOutside<T>(start: T): T {
  return ((...args: readonly unknown[]) => Reflect.apply(start as Start, undefined, outside(args))) as T;
}

export const spawn = fromOutside(node.spawn);
export const spawnSync = fromOutside(node.spawnSync);
export const execFile = fromOutside(node.execFile);
export const execFileSync = fromOutside(node.execFileSync);
/** As {@link execFile}, with a promise of the output. */
export const outputOfProgram = fromOutside(promisify(node.execFile));

/** Starts a module of run-claude itself as a process with a channel. */
export const fork: typeof node.fork = ((file: string, ...others: readonly unknown[]) => {
  const words = outside([process.execPath, ...others]);
  return Reflect.apply(node.fork, undefined, [file, ...words.slice(1)]);
}) as typeof node.fork;

/**
 * The folders of PATH that are in a project, from its top; '' is the top itself. Those that do not exist yet count: a
 * session can make them. A relative folder of PATH counts as one of the project's top.
 */
export function pathFoldersIn(root: string, searched = originalPath): readonly string[] {
  const folders = searched.split(':').flatMap((named) => {
    const folder = path.resolve(root, named);
    const relative = path.relative(root, realFolderOf(folder) ?? folder);
    return relative === '..' || relative.startsWith('../') ? [] : [relative];
  });
  return [...new Set(folders)];
}
