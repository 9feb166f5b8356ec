import { RunClaudeError, usageError } from '../../core/errors.ts';
import { type GitArguments, type GitOptions, runGit, runGitSync } from '../../core/host/git.ts';
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
  /** The newest commit that a commit has in common with any of the others; undefined where there is none. */
  commonCommit(one: string, others: readonly string[]): Promise<string | undefined>;
  tree(commit: string): Promise<readonly TreeEntry[]>;
  /** What a commit of the index would have. Throws usageError for an unfinished merge. */
  index(): Promise<readonly TreeEntry[]>;
  /** Commits of remote-tracking branches: those of one remote, or of all. */
  remoteTips(remote?: string): Promise<readonly string[]>;
  /** Whether HEAD names a branch without a commit. */
  isUnborn(): Promise<boolean>;
  /** Directory of the objects. */
  objectsDir(): Promise<string>;
  /** Contents by object id. An id that the repository does not have is left out. */
  read(oids: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /** The content of one object id, while the process waits; undefined where the repository does not have it. */
  readNow(oid: string): Buffer | undefined;
  /** Directory that holds the repository's configuration. */
  commonDir(): Promise<string>;
  /** Root of the work tree. */
  topLevel(): Promise<string>;
}

const MAX_OUTPUT_BYTES = 2 ** 31;

/**
 * Opens the repository that contains a folder. No git process starts before the first call of a method. `env`: of the user
 * whose settings decide whether git may read it; without it the repository is read whoever owns it. `place`: a git
 * directory or an index other than the repository's own.
 */
export function openGitObjects(
  folder: string,
  env?: NodeJS.ProcessEnv,
  place: Pick<GitOptions, 'gitDir' | 'indexFile'> = {},
): GitObjects {
  const owner = env === undefined ? {} : { ownerCheckedFor: env };
  const git = (args: GitArguments, input = ''): Promise<Buffer> =>
    runGit(args, { cwd: folder, ...owner, ...place, input, maxOutputBytes: MAX_OUTPUT_BYTES });
  const commit = async (name: string): Promise<string> => {
    if (name === '' || name.startsWith('-')) throw usageError(`'${name}' is not a commit`);
    const found = await git(['rev-parse', '--verify', '--quiet', `${name}^{commit}`]).catch(async (cause: Error) => {
      throw await explain(name, cause);
    });
    return oid(found);
  };
  const isShallow = async (): Promise<boolean> =>
    oid(await git(['rev-parse', '--is-shallow-repository']).catch(() => Buffer.from('false'))) === 'true';
  const explain = async (name: string, cause: Error): Promise<RunClaudeError> => {
    if (/not a git repository/.test(cause.message))
      return usageError(`${folder} is not a git repository`, 'Name a folder of a repository.');
    const what = `${name} is not a commit of ${folder}`;
    if (/dubious ownership/.test(cause.message))
      return usageError(
        what,
        'git refuses the folder because it belongs to another user: git config --global --add safe.directory …',
      );
    if (await isShallow()) return usageError(`${name} is not in this shallow clone`, UNSHALLOW);
    return usageError(what, 'Fetch it first (in Actions: fetch-depth: 0), or see git branch -a.');
  };
  return {
    commit,
    mergeBase: async (one, other) =>
      oid(
        await git(['merge-base', one, other]).catch(async () => {
          if (await isShallow()) throw usageError('this shallow clone lacks the common commit of the two', UNSHALLOW);
          throw usageError('the two commits have no common ancestor', 'Check the two names.');
        }),
      ),
    commonCommit: async (one, others) => {
      if (others.length === 0) return undefined;
      const found = await git(['merge-base', one, ...others]).catch(noAncestor);
      return found === undefined ? undefined : oid(found);
    },
    tree: async (name) => parseTree(await git(['ls-tree', '-r', '-z', '-l', '--full-tree', name])),
    index: async () => withSizes(parseIndex(await git(['ls-files', '--stage', '-z', '--full-name', ':/'])), git),
    remoteTips: async (remote) => {
      const refs = remote === undefined ? 'refs/remotes' : `refs/remotes/${remote}`;
      const tips = oid(await git(['for-each-ref', '--count=500', '--format=%(objectname)', refs])).split('\n');
      return [...new Set(tips.filter((tip) => tip !== ''))];
    },
    isUnborn: async () => {
      const branch = await git(['symbolic-ref', '--quiet', 'HEAD']).then(line, () => undefined);
      if (branch === undefined) return false;
      return (await git(['for-each-ref', '--format=%(objectname)', branch])).length === 0;
    },
    objectsDir: async () => line(await git(['rev-parse', '--path-format=absolute', '--git-path', 'objects'])),
    read: async (oids) =>
      parseBatch(await git(['cat-file', '--batch', '--buffer'], `${[...new Set(oids)].join('\n')}\n`)),
    readNow: (id) => {
      try {
        return runGitSync(['cat-file', 'blob', id], { cwd: folder, ...owner, ...place });
      } catch (error) {
        if (error instanceof RunClaudeError) return undefined;
        throw error;
      }
    },
    commonDir: async () => line(await git(['rev-parse', '--path-format=absolute', '--git-common-dir'])),
    topLevel: async () => line(await git(['rev-parse', '--show-toplevel'])),
  };
}

const line = (output: Buffer): string => decodeBytes(output).replace(/\n$/, '');

const oid = (output: Buffer): string => output.toString('latin1').trim();

const UNSHALLOW = 'Fetch the whole history: git fetch --unshallow (in Actions: fetch-depth: 0).';

/** The exit status of `merge-base` without an answer is a failure without a reason. */
function noAncestor(cause: Error): undefined {
  if (/it ended with 1$/.test(cause.message)) return undefined;
  throw cause;
}

/** `mode oid stage TAB path NUL`, as git ls-files --stage -z writes it; without sizes. */
function parseIndex(output: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < output.length; ) {
    const tab = output.indexOf(9, at);
    const end = output.indexOf(0, tab);
    if (tab < 0 || end < 0) throw new RunClaudeError('GIT_OUTPUT', 'git ls-files wrote something else than expected');
    const [mode = '', id = '', stage = ''] = output.toString('latin1', at, tab).split(' ');
    const path = decodeBytes(output.subarray(tab + 1, end));
    if (stage !== '0') throw usageError(`${path} has a merge conflict`, 'Resolve it and add the file first.');
    entries.push({ mode, type: mode === '160000' ? 'commit' : 'blob', oid: id, size: 0, path });
    at = end + 1;
  }
  return entries;
}

/** The entries with the sizes of their contents, in bytes. */
async function withSizes(
  entries: readonly TreeEntry[],
  git: (args: GitArguments, input: string) => Promise<Buffer>,
): Promise<TreeEntry[]> {
  const ids = [...new Set(entries.filter(({ type }) => type === 'blob').map((entry) => entry.oid))];
  if (ids.length === 0) return [...entries];
  const lines = (await git(['cat-file', '--batch-check', '--buffer'], `${ids.join('\n')}\n`)).toString('latin1');
  const sizes = new Map(lines.split('\n').map((row) => [row.split(' ')[0] ?? '', Number(row.split(' ')[2] ?? 0)]));
  return entries.map((entry) => ({ ...entry, size: sizes.get(entry.oid) ?? 0 }));
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
