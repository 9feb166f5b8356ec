import { lstatSync, readFileSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { findRepository } from '../facts.ts';

/**
 * Folders in which an agent can write, now or in an earlier session: the project, folders of `--also`, and every folder
 * that a session in bind mode had. Nothing that is in one of them runs on this machine as a part of run-claude.
 */
export class AgentFolders {
  /** Identities of the folders: another spelling, a link and a bind mount of a folder are the same folder. */
  readonly #ids = new Set<string>();
  readonly #paths: string[] = [];

  /** What {@link leadsInside} answered. An agent can change nothing outside: an answer stays true. */
  readonly #answers = new Map<string, boolean>();

  /** Adds real paths of folders. Those that do not exist are left out. Returns whether one was new. */
  add(folders: Iterable<string>): boolean {
    const before = this.#ids.size;
    for (const folder of folders) {
      const id = identityOf(folder);
      if (id === undefined || this.#ids.has(id)) continue;
      this.#ids.add(id);
      this.#paths.push(folder);
    }
    this.#answers.clear();
    return this.#ids.size > before;
  }

  /** Whether a text has an absolute path into one of the folders: alone, in a list, in an address, or among words. */
  leadsInside(text: string): boolean {
    if (this.#ids.size === 0 || !text.includes('/')) return false;
    let answer = this.#answers.get(text);
    if (answer === undefined) {
      answer = text.split(PATH_ENDS).some((part) => part.includes('/') && this.resolve(part) === 'inside');
      this.#answers.set(text, answer);
    }
    return answer;
  }

  get paths(): readonly string[] {
    return this.#paths;
  }

  /**
   * Follows an absolute path as the kernel does. 'inside' where the entry, or any folder or link on the way to it, is in
   * one of the folders: an agent could exchange it. Otherwise the path without links, or undefined where nothing is there.
   */
  resolve(named: string): string | 'inside' | undefined {
    let at = '/';
    let links = 0;
    // What is before the first slash does not belong to the path: `-I/include`, `file://`.
    const rest = named.slice(named.indexOf('/')).split('/').reverse();
    for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
      if (name === '' || name === '.') continue;
      if (name === '..') {
        at = path.dirname(at);
        continue;
      }
      const next = path.join(at, name);
      const stats = statOf(next, (one) => lstatSync(one));
      if (stats === undefined) return undefined;
      if (stats.isSymbolicLink()) {
        links += 1;
        if (links > MAX_LINKS) return undefined;
        const target = readlinkSync(next);
        if (target.startsWith('/')) at = '/';
        for (const part of target.split('/').reverse()) rest.push(part);
        continue;
      }
      at = next;
      if (this.#ids.has(idOf(stats))) return 'inside';
    }
    return at;
  }
}

/** What is between the paths of a value. */
const PATH_ENDS = /[\s:;,='"]+/;

/** As many links as Linux follows (path_resolution(7)). */
const MAX_LINKS = 40;

/**
 * The folder that a session started in `folder` may get: the top of its repository, otherwise the folder itself.
 * Undefined for the home directory and what contains it, which no session gets.
 */
export function possibleProject(folder: string, home: string): string | undefined {
  const holdsHome = (outer: string): boolean => home === outer || outer === '/' || home.startsWith(`${outer}/`);
  if (holdsHome(folder)) return undefined;
  const top = findRepository(folder);
  return top === undefined || holdsHome(top) ? folder : top;
}

/** The real path of a folder; undefined where it is none. */
export function realFolderOf(named: string): string | undefined {
  try {
    const real = realpathSync.native(named);
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The file that lists the folders of bind sessions, one real path a line. sh reads it too, before Node starts.
 * Never shortened: what an agent wrote outlives the records of its session.
 */
export const AGENT_FOLDERS_FILE = 'agent-folders';

/** The folders of earlier sessions in bind mode. */
export function readAgentFolders(stateDir: string): readonly string[] {
  try {
    const text = readFileSync(path.join(stateDir, AGENT_FOLDERS_FILE), 'utf8');
    return text.split('\n').filter((line) => line.startsWith('/'));
  } catch {
    return [];
  }
}

/** A path with a line break cannot be a line: the nearest folder above it that can. */
export function lineOfFolder(folder: string): string {
  let at = folder;
  while (at.includes('\n')) at = path.dirname(at);
  return at;
}

function statOf<T>(file: string, stat: (file: string) => T): T | undefined {
  try {
    return stat(file);
  } catch {
    return undefined;
  }
}

function identityOf(file: string): string | undefined {
  const stats = statOf(file, (one) => statSync(one));
  return stats === undefined ? undefined : idOf(stats);
}

/** With the time at which it was made: a file system gives the number of a removed folder to a new one. */
function idOf({ dev, ino, birthtimeMs }: Pick<Stats, 'dev' | 'ino' | 'birthtimeMs'>): string {
  return `${dev}:${ino}:${birthtimeMs}`;
}
