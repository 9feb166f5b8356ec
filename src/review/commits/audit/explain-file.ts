import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
} from 'node:fs';
import path from 'node:path';
import { type Explanation, explainChange } from '../../../audit/explain.ts';
import { usageError } from '../../../core/errors.ts';
import { decodeBytes, encodeBytes, parseRelPath, type RelPath } from '../../../core/text/path.ts';
import type { Change, Entry } from '../../../core/types/entry.ts';
import type { Policy } from '../../../core/types/policy.ts';
import { policySettings } from '../../judging/policy-settings.ts';
import { openGitObjects } from '../git-objects.ts';
import { baseReader, entryOf, followedIn, readable, repositoryConfig, treeOf } from './audit-commit-range.ts';
import { kindOfChange } from './change-kind.ts';

const MAX_READ_BYTES = 8 << 20;
/** The file in the work tree, next to the object ids of the commit. */
const WORK_TREE = 'work tree';

export interface ExplainFileOptions {
  /** A folder of the repository. */
  readonly folder: string;
  /** Absolute path of the file. */
  readonly file: string;
  /** The commit that the file is compared with. */
  readonly ref: string;
  readonly policy: Policy;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * What the audit makes of one file of the work tree, as if it were all that a session had changed since a commit. Undefined
 * when the file is as the commit has it.
 *
 * @throws {RunClaudeError} USAGE for a path outside of the repository, one that neither side has, and what is not a commit
 */
export async function explainFile(options: ExplainFileOptions): Promise<Explanation | undefined> {
  const { folder, file, ref, policy, env } = options;
  const git = openGitObjects(folder, env);
  const tree = await treeOf(git, await git.commit(ref));
  const root = await git.topLevel();
  const real = path.join(realpathSync(path.dirname(file)), path.basename(file));
  const name = parseRelPath(path.relative(root, real));
  if (name === undefined) throw usageError(`${file} is not a file of ${root}`, 'Name a file of the repository.');
  const listed = tree.get(name);
  const now = readWorkTree(root, name);
  if (listed === undefined && now === undefined)
    throw usageError(`${name} is neither in the work tree nor in ${ref}`, 'Check the path and --base.');
  const contents = new Map(await git.read([...followedIn(tree), ...readable(listed)]));
  const before = listed === undefined ? undefined : entryOf(listed, contents);
  const same = now?.bytes !== undefined && contents.get(before?.digest ?? '')?.equals(now.bytes) === true;
  const isSame = before !== undefined && before.kind === now?.entry.kind && before.mode === now.entry.mode;
  if (isSame && (same || (before.kind === 'symlink' && before.target === now.entry.target))) return undefined;
  const change: Change = {
    path: name,
    kind: kindOfChange(before, now?.entry, same),
    ...(before === undefined ? {} : { before }),
    ...(now === undefined ? {} : { after: now.entry }),
  };
  return explainChange(
    {
      changes: [change],
      content: (digest) => (digest === WORK_TREE ? now?.bytes : contents.get(digest)),
      base: baseReader(git, tree, contents, await repositoryConfig(git)),
      ...policySettings(policy),
    },
    change,
  );
}

/** The entry at a path now, and its content; a file that is too large has none. An agent may write there: no link is followed at the end. */
function readWorkTree(root: string, name: RelPath): { readonly entry: Entry; readonly bytes?: Buffer } | undefined {
  const full = encodeBytes(path.join(root, name));
  const stat = lstatSync(full, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  const common = { mtimeNs: '0', size: 0, mode: (stat.mode & 0o111) === 0 ? 0o644 : 0o755 };
  if (stat.isSymbolicLink())
    return {
      entry: {
        ...common,
        mode: 0o644,
        kind: 'symlink',
        target: decodeBytes(readlinkSync(full, { encoding: 'buffer' })),
      },
    };
  if (!stat.isFile()) throw usageError(`${name} is not a file`, 'Name a file or a link.');
  const opened = openSync(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = fstatSync(opened);
    const entry: Entry = { ...common, size, kind: 'file', digest: WORK_TREE };
    return size > MAX_READ_BYTES ? { entry } : { entry, bytes: readFileSync(opened) };
  } finally {
    closeSync(opened);
  }
}
