import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { findRepository } from '../facts.ts';

/**
 * Folders in which an agent can write, now or in an earlier session: the project, folders of `--also`, and every folder
 * that a session in bind mode had. Nothing that is in one of them runs on this machine as a part of run-claude.
 */
export class AgentFolders {
  readonly #paths = new Set<string>();
  /** What was answered about values and folders of PATH. An agent can change nothing outside: an answer stays true. */
  readonly #answers = new Map<string, boolean>();

  /** Adds real paths of folders. Returns whether one was new. */
  add(folders: Iterable<string>): boolean {
    const before = this.#paths.size;
    for (const folder of folders) this.#paths.add(folder);
    this.#answers.clear();
    return this.#paths.size > before;
  }

  /**
   * Whether a text has a path into one of the folders: alone, in a list, in an address, or among words. A relative path
   * counts from the current folder.
   */
  leadsInside(text: string): boolean {
    if (this.#paths.size === 0 || !text.includes('/')) return false;
    return this.#remember(`value ${text}`, () => {
      const parts = new Set([text, ...text.split(':'), ...text.split(PATH_ENDS)]);
      return [...parts].some((part) => pathsIn(part).some((one) => this.resolve(one) === 'inside'));
    });
  }

  /** Whether a folder of PATH has a link into one of the folders under the name of a program that other programs start. */
  hasLinkInside(dir: string): boolean {
    if (this.#paths.size === 0) return false;
    return this.#remember(`links ${dir}`, () =>
      linksIn(dir).some((name) => STARTED_BY_OTHERS.test(name) && this.resolve(path.join(dir, name)) === 'inside'),
    );
  }

  #remember(key: string, ask: () => boolean): boolean {
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const answer = ask();
    this.#answers.set(key, answer);
    return answer;
  }

  /**
   * Follows an absolute path as the kernel does. 'inside' where the entry, or any folder or link on the way to it, is in
   * one of the folders: an agent could exchange it. Otherwise the path without links, or undefined where nothing is there.
   */
  resolve(named: string): string | 'inside' | undefined {
    // Compared anew each time: another spelling, a link and a bind mount of a folder are the same folder, and an agent can
    // change every time stamp of one.
    const ids = new Set([...this.#paths].flatMap((folder) => identityOf(folder) ?? []));
    let at = '/';
    let links = 0;
    const rest = named.split('/').reverse();
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
      if (ids.has(idOf(stats))) return 'inside';
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

function idOf({ dev, ino }: Pick<Stats, 'dev' | 'ino'>): string {
  return `${dev}:${ino}`;
}

/** Programs that git, ssh, gh and shell scripts start by their names. */
const STARTED_BY_OTHERS =
  /^(git|git-.*|gpg.*|ssh.*|sh|bash|env|node|npm|gh|find|chmod|rm|less|docker.*|podman.*|pass|op|security|pinentry.*)$/;

function linksIn(dir: string): readonly string[] {
  try {
    const entries = readdirSync(dir, { withFileTypes: true });
    return entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => name);
  } catch {
    return [];
  }
}

/** The absolute paths that a part of a value may mean. */
function pathsIn(part: string): readonly string[] {
  const at = part.indexOf('/');
  if (at === -1) return [];
  // What is before the first slash may be no part of the path: `-I/include`, `file://`.
  const [before, rest] = [part.slice(0, at), part.slice(at)];
  if (before === '') return [part];
  if (before === '~') return [path.join(homedir(), rest)];
  const relative = path.join(currentFolder(), part);
  const isRelative = before === '.' || before === '..' || statOf(relative, (one) => lstatSync(one)) !== undefined;
  return isRelative ? [rest, relative] : [rest];
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return '/';
  }
}
