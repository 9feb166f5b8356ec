import { RunClaudeError, usageError } from '../../core/errors.ts';
import { type GitArguments, runGit } from '../../core/host/git.ts';
import { decodeBytes } from '../../core/text/path.ts';

/** One entry of a commit's tree. */
export interface TreeEntry {
  readonly mode: string;
  readonly type: string;
  readonly oid: string;
  readonly size: number;
  /** As in text/path.ts; whatever the tree says, also names that no work tree can have. */
  readonly path: string;
}

/** Reads a repository's objects, and nothing else of it. */
export interface GitObjects {
  /** The commit that a name means. Throws usageError. */
  commit(name: string): Promise<string>;
  /** The newest commit that both have. Throws usageError where they have none. */
  mergeBase(one: string, other: string): Promise<string>;
  tree(commit: string): Promise<readonly TreeEntry[]>;
  /** Contents by object id. An id that the repository does not have is left out. */
  read(oids: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /** Directory that holds the repository's configuration. */
  commonDir(): Promise<string>;
  /** Root of the work tree. */
  topLevel(): Promise<string>;
}

const MAX_OUTPUT_BYTES = 2 ** 31;

/**
 * Opens the repository that contains a folder. No git process starts before the first call of a method. `env`: of the user
 * whose settings decide whether git may read it; without it the repository is read whoever owns it.
 */
export function openGitObjects(folder: string, env?: NodeJS.ProcessEnv): GitObjects {
  const owner = env === undefined ? {} : { ownerCheckedFor: env };
  const git = (args: GitArguments, input = ''): Promise<Buffer> =>
    runGit(args, { cwd: folder, ...owner, input, maxOutputBytes: MAX_OUTPUT_BYTES });
  const commit = async (name: string): Promise<string> => {
    if (name === '' || name.startsWith('-')) throw usageError(`'${name}' is not a commit`);
    const found = await git(['rev-parse', '--verify', '--quiet', `${name}^{commit}`]).catch((cause: Error) => {
      throw usageError(`${name} is not a commit of ${folder}`, explain(cause));
    });
    return oid(found);
  };
  return {
    commit,
    mergeBase: async (one, other) =>
      oid(
        await git(['merge-base', one, other]).catch(() => {
          throw usageError(
            'the two commits have no common ancestor',
            'Fetch the whole history (in Actions: fetch-depth: 0).',
          );
        }),
      ),
    tree: async (name) => parseTree(await git(['ls-tree', '-r', '-z', '-l', '--full-tree', name])),
    read: async (oids) =>
      parseBatch(await git(['cat-file', '--batch', '--buffer'], `${[...new Set(oids)].join('\n')}\n`)),
    commonDir: async () => line(await git(['rev-parse', '--path-format=absolute', '--git-common-dir'])),
    topLevel: async () => line(await git(['rev-parse', '--show-toplevel'])),
  };
}

const line = (output: Buffer): string => decodeBytes(output).replace(/\n$/, '');

const oid = (output: Buffer): string => output.toString('latin1').trim();

function explain(cause: Error): string {
  return /dubious ownership/.test(cause.message)
    ? 'git refuses the folder because it belongs to another user: git config --global --add safe.directory …'
    : 'Fetch it first (in Actions: fetch-depth: 0), or see git branch -a.';
}

/** `mode type oid size TAB path NUL`, as git ls-tree -z -l writes it. */
function parseTree(output: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < output.length; ) {
    const tab = output.indexOf(9, at);
    const end = output.indexOf(0, tab);
    if (tab < 0 || end < 0) throw new RunClaudeError('GIT_OUTPUT', 'git ls-tree wrote something else than expected');
    const [mode = '', type = '', id = '', size = ''] = output.toString('latin1', at, tab).split(/ +/);
    const path = decodeBytes(output.subarray(tab + 1, end));
    entries.push({ mode, type, oid: id, size: size === '-' ? 0 : Number(size), path });
    at = end + 1;
  }
  return entries;
}

/** `oid type size LF content LF` for what is there, `oid missing LF` otherwise. */
function parseBatch(output: Buffer): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(10, at);
    const [id = '', type, size] = output.toString('latin1', at, end).split(' ');
    at = end + 1;
    if (size === undefined || type === 'missing') continue;
    found.set(id, output.subarray(at, at + Number(size)));
    at += Number(size) + 1;
  }
  return found;
}
