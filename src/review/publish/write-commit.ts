import { runGit } from '../../core/host/git.ts';
import { runUserGit } from '../../core/host/user-git.ts';
import { encodeBytes, nameOfPath, parentPath } from '../../core/text/path.ts';
import { withLfsPointers } from './lfs-files.ts';
import type { HeadTree, ScratchFile, ScratchTree } from './scratch-tree.ts';
import { readUserConfig, signing } from './user-config.ts';

/** What a tree names at a path. */
interface Named {
  readonly mode: string;
  readonly type: string;
  readonly oid: string;
}

const AT_ONCE = 8;

export interface CommitRequest {
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
  readonly head: HeadTree;
  readonly scratch: ScratchTree;
  readonly files: ReadonlyMap<string, ScratchFile>;
  readonly message: string;
}

/**
 * Writes a commit on top of HEAD with the files in place of those that were laid out; undefined where nothing differs.
 * Objects only: index, work tree and refs stay as they are. The commit is signed where the user signs.
 *
 * @throws {RunClaudeError} GIT_FAILED, for example without a name and an email, or when signing fails.
 */
export async function writeCommit(request: CommitRequest): Promise<string | undefined> {
  const { project, env, head, scratch, message } = request;
  const files = await withLfsPointers(request);
  const named = new Map<string, Named>(head.entries);
  for (const own of scratch.laid.keys()) named.delete(head.prefix + own);
  for (const [own, oid] of await writeBlobs(project, files)) {
    named.set(head.prefix + own, { mode: (files.get(own) as ScratchFile).mode, type: 'blob', oid });
  }
  if (isSame(named, head.entries)) return undefined;
  const tree = await writeTrees(project, named);
  const { isSigned, settings } = signing(await readUserConfig(project, env));
  const words = [...(isSigned ? ['-S'] : []), '-p', head.commit, '-F', '-', tree];
  const own = ['i18n.commitEncoding=UTF-8', ...settings];
  return (await runUserGit(['commit-tree', ...words], { cwd: project, env, input: message, settings: own })).trim();
}

function isSame(a: ReadonlyMap<string, Named>, b: ReadonlyMap<string, Named>): boolean {
  const isEqual = ([one, { mode, oid }]: [string, Named]): boolean =>
    b.get(one)?.oid === oid && b.get(one)?.mode === mode;
  return a.size === b.size && [...a].every(isEqual);
}

/** Each content as it is: no filter of git's, no line end conversion. Returns ids by path. */
async function writeBlobs(
  project: string,
  files: ReadonlyMap<string, ScratchFile>,
): Promise<ReadonlyMap<string, string>> {
  const todo = [...files];
  const ids = new Map<string, string>();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
        const [own, { content }] = next;
        const output = await runGit(['hash-object', '-t', 'blob', '-w', '--no-filters', '--stdin'], {
          cwd: project,
          input: content,
        });
        ids.set(own, output.toString().trim());
      }
    }),
  );
  return ids;
}

/** Writes the trees of these entries, the deepest first. Returns the id of the root. */
async function writeTrees(project: string, named: ReadonlyMap<string, Named>): Promise<string> {
  const folders = new Map<string, Map<string, Named>>([['', new Map()]]);
  const folderAt = (folder: string): Map<string, Named> => {
    const known = folders.get(folder);
    if (known !== undefined) return known;
    const made = new Map<string, Named>();
    folders.set(folder, made);
    if (folder !== '') folderAt(parentPath(folder));
    return made;
  };
  for (const [one, entry] of named) folderAt(parentPath(one)).set(nameOfPath(one), entry);
  const depthOf = (folder: string): number => (folder === '' ? 0 : folder.split('/').length);
  const levels: string[][] = [];
  for (const folder of folders.keys()) {
    const depth = depthOf(folder);
    levels[depth] ??= [];
    levels[depth].push(folder);
  }
  let root = '';
  for (const level of levels.toReversed()) {
    const ids = await makeTrees(
      project,
      level.map((folder) => folders.get(folder) as Map<string, Named>),
    );
    level.forEach((folder, at) => {
      const oid = ids[at] as string;
      if (folder === '') root = oid;
      else folderAt(parentPath(folder)).set(nameOfPath(folder), { mode: '040000', type: 'tree', oid });
    });
  }
  return root;
}

async function makeTrees(project: string, trees: readonly ReadonlyMap<string, Named>[]): Promise<string[]> {
  const end = Buffer.from([0]);
  const rows = trees.flatMap((tree) => [
    ...[...tree].flatMap(([name, { mode, type, oid }]) => [
      Buffer.from(`${mode} ${type} ${oid}\t`),
      encodeBytes(name),
      end,
    ]),
    // Only a root can be empty, and it is alone in its batch.
    ...(trees.length > 1 ? [end] : []),
  ]);
  const batch = trees.length > 1 ? ['--batch'] : [];
  // A partial clone lacks objects that the tree only names.
  const output = await runGit(['mktree', '--missing', '-z', ...batch], { cwd: project, input: Buffer.concat(rows) });
  return output.toString().trim().split('\n');
}
