import path from 'node:path';
import { usageError } from '../../core/errors.ts';
import { nameOfPath, type RelPath } from '../../core/text/path.ts';
import type { ListedEntry } from '../../core/types/collector.ts';
import { baseIgnoreRules } from '../../workspace/collector/ignored.ts';
import {
  baseReader,
  entryOf,
  followedIn,
  readable,
  repositoryConfig,
  type Tree,
} from '../commits/audit/audit-commit-range.ts';
import { openGitObjects, type TreeEntry } from '../commits/git-objects.ts';
import { ChangeJudge } from '../judging/change-judge.ts';
import { frozenContent } from '../judging/read-frozen.ts';
import type { OwnBase } from './own-base.ts';

/**
 * A commit of the importer's repository, read as objects: no filter, hook or driver of the repository runs. `paths` are
 * those that are asked for.
 *
 * @throws {RunClaudeError} USAGE for what is not a commit of the project's repository.
 */
export async function openCommitBase(
  project: string,
  name: string,
  paths: readonly RelPath[],
  env: NodeJS.ProcessEnv,
): Promise<OwnBase> {
  const git = openGitObjects(project, env);
  const commit = await git.commit(name);
  const tree = below(await git.tree(commit), path.relative(await git.topLevel(), project));
  const ignoreFiles = [...tree.values()].filter((entry) => nameOfPath(entry.path) === '.gitignore');
  const wanted = [...paths.flatMap((one) => tree.get(one) ?? []), ...ignoreFiles].flatMap(readable);
  const contents = await git.read([...wanted, ...followedIn(tree)]);
  const folders = foldersOf(tree);
  const config = await repositoryConfig(git);
  const rules = baseIgnoreRules({
    stat: async (_root, one) => {
      const found = tree.get(one);
      return found === undefined ? undefined : ({ path: one, kind: 'file', size: found.size } as ListedEntry);
    },
    async *readUpTo(_root, one) {
      const content = contents.get(tree.get(one)?.oid ?? '');
      if (content !== undefined) yield content;
    },
  });
  return {
    count: tree.size + folders.size,
    entry: async (one, store) => {
      const found = tree.get(one);
      if (found === undefined) {
        return folders.has(one) ? { kind: 'dir', mode: 0o755, size: 0, mtimeNs: '0' } : undefined;
      }
      const entry = entryOf(found, contents);
      if (entry.kind !== 'file') return entry;
      const content = contents.get(found.oid);
      return content === undefined ? undefined : { ...entry, ...(await store.put([content])) };
    },
    isIgnored: async (one, isDirectory) => !tree.has(one) && (await rules.top(one, isDirectory)) !== undefined,
    openJudge: (store, changes) =>
      new ChangeJudge({ content: frozenContent(store, changes), base: baseReader(git, tree, contents, config) }),
  };
}

/** The entries of a commit below the project's folder, by their paths in the project. */
function below(entries: readonly TreeEntry[], folder: string): Tree {
  if (folder === '') return new Map(entries.map((entry) => [entry.path, entry]));
  if (folder.startsWith('..')) throw usageError('the project is not in the work tree of its repository');
  const prefix = `${folder}/`;
  const own = entries.filter((entry) => entry.path.startsWith(prefix));
  return new Map(
    own.map((entry) => [entry.path.slice(prefix.length), { ...entry, path: entry.path.slice(prefix.length) }]),
  );
}

function foldersOf(tree: Tree): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const one of tree.keys()) {
    for (let at = one.lastIndexOf('/'); at > 0; at = one.lastIndexOf('/', at - 1)) folders.add(one.slice(0, at));
  }
  return folders;
}
