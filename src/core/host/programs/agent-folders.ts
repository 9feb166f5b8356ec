import { lstatSync, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { findRepository } from '../facts.ts';
import { EntryReader } from './entry-reader.ts';
import { folderIdentity } from './folder-identity.ts';

/**
 * Folders in which an agent can write, now or in an earlier session: the project, folders of `--also`, and every folder
 * that a session in bind mode had. Nothing that is in one of them runs on this machine as a part of run-claude.
 */
export class AgentFolders {
  readonly #paths = new Set<string>();
  /** Of {@link folderIdentity}: folders that may have another path by now. */
  readonly #identities = new Set<string>();
  /** What was answered about values and folders of PATH. An agent can change nothing outside: an answer stays true. */
  readonly #answers = new Map<string, unknown>();

  /** Adds real paths and identities of folders. Returns whether one was new. */
  add(folders: Iterable<string>, identities: Iterable<string> = []): boolean {
    const before = this.#size;
    for (const folder of folders) this.#paths.add(folder);
    for (const identity of identities) this.#identities.add(identity);
    const isNew = this.#size > before;
    if (isNew) this.#answers.clear();
    return isNew;
  }

  get #size(): number {
    return this.#paths.size + this.#identities.size;
  }

  /**
   * Whether a text has a path into one of the folders: alone, in a list, in an address, or among words. A relative path
   * counts from the current folder.
   */
  leadsInside(text: string): boolean {
    if (this.#size === 0 || !text.includes('/')) return false;
    return this.#remember(`value ${text}`, () => {
      const parts = new Set([text, ...text.split(':'), ...text.split(PATH_ENDS)]);
      return [...parts].some((part) => pathsIn(part).some((one) => this.resolve(one) === 'inside'));
    });
  }

  /** The names of the links in a folder of PATH that lead into one of the folders. */
  linksInside(dir: string): readonly string[] {
    if (this.#size === 0) return [];
    return this.#remember(`links ${dir}`, () => {
      const ids = this.#ids();
      const entries = new EntryReader();
      return linksIn(dir).filter((name) => this.#follow(`${dir}/${name}`, ids, entries) === 'inside');
    });
  }

  #remember<T>(key: string, ask: () => T): T {
    const known = this.#answers.get(key) as T | undefined;
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
    return this.#follow(named, this.#ids());
  }

  /**
   * Device and inode of each folder, with its birth where it may have another path by now. Read anew for each question:
   * another spelling, a link and a bind mount of a folder are the same folder, and an agent can change its time stamps.
   */
  #ids(): ReadonlyMap<string, string | undefined> {
    const moved = [...this.#identities].map((identity): [string, string] => [identity.replace(/:\d+$/, ''), identity]);
    const here = [...this.#paths].flatMap((folder): [string, undefined][] => {
      const id = identityOf(folder);
      return id === undefined ? [] : [[id, undefined]];
    });
    return new Map<string, string | undefined>([...moved, ...here]);
  }

  #follow(
    named: string,
    ids: ReadonlyMap<string, string | undefined>,
    entries = new EntryReader(),
  ): string | 'inside' | undefined {
    let at = '/';
    let links = 0;
    const rest = named.split('/').reverse();
    for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
      if (name === '' || name === '.') continue;
      if (name === '..') {
        at = path.dirname(at);
        continue;
      }
      const entry = entries.read(at, name);
      if (entry === undefined) return undefined;
      if (entry.kind === 'link') {
        links += 1;
        if (links > MAX_LINKS) return undefined;
        if (entry.target.startsWith('/')) at = '/';
        for (const part of entry.target.split('/').reverse()) rest.push(part);
        continue;
      }
      at = at === '/' ? `/${name}` : `${at}/${name}`;
      if (entry.kind === 'other' || !ids.has(entry.id)) continue;
      const identity = ids.get(entry.id);
      if (identity === undefined || identity === folderIdentity(at)) return 'inside';
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
 * The file that lists the folders of bind sessions: a real path a line, which sh reads too, before Node starts, and a line
 * for each identity. Never shortened: what an agent wrote outlives the records of its session.
 */
export const AGENT_FOLDERS_FILE = 'agent-folders';

const IDENTITY = 'identity ';

export const identityLine = (identity: string): string => `${IDENTITY}${identity}`;

/** The folders of earlier sessions in bind mode: their paths at the time, and their identities. */
export function readAgentFolders(stateDir: string): {
  readonly paths: readonly string[];
  readonly identities: readonly string[];
} {
  try {
    const lines = readFileSync(path.join(stateDir, AGENT_FOLDERS_FILE), 'utf8').split('\n');
    const marked = lines.filter((line) => line.startsWith(IDENTITY));
    return {
      paths: lines.filter((line) => line.startsWith('/')),
      identities: marked.map((line) => line.slice(IDENTITY.length)),
    };
  } catch {
    return { paths: [], identities: [] };
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
