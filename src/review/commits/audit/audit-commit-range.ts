import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { BaseReader } from '../../../audit/input.ts';
import { resolveInBase } from '../../../audit/links.ts';
import { isFollowed } from '../../../audit/reach/extract/languages.ts';
import { wantsBaseContent } from '../../../audit/reach/referrers.ts';
import { type AcceptedFinding, acceptedBy, BASELINE_FILE, readBaseline } from '../../../core/report/baseline.ts';
import { decodeBytes, parseRelPath, type RelPath } from '../../../core/text/path.ts';
import type { Change, Entry } from '../../../core/types/entry.ts';
import type { Finding } from '../../../core/types/finding.ts';
import type { Policy } from '../../../core/types/policy.ts';
import type { Review } from '../../../core/types/review.ts';
import { buildReview } from '../../choices/build-review.ts';
import { ChangeJudge, type JudgeRequest } from '../../judging/change-judge.ts';
import { policySettings } from '../../judging/policy-settings.ts';
import type { GitObjects, TreeEntry } from '../git-objects.ts';
import { kindOfChange } from './change-kind.ts';

/** Contents larger than this are not read: the audit blocks what it does not read. */
const MAX_READ_BYTES = 256 << 20;
const MAX_FOLLOWED_BYTES = 1 << 20;
const MAX_BASELINE_BYTES = 16 << 20;

export interface TreesToAudit extends Pick<JudgeRequest, 'signal' | 'tell'> {
  /** Has the contents of both. */
  readonly git: GitObjects;
  readonly before: Tree;
  readonly after: Tree;
  /** The repository's own configuration. */
  readonly config: Buffer | undefined;
  readonly policy: Policy;
}

/**
 * Audits what differs between two trees, as if a session had made it. Reads objects only: no work tree, filter, hook or
 * driver is involved.
 */
export async function auditTrees(request: TreesToAudit): Promise<Review> {
  const { git, before, after, config, policy, signal, tell } = request;
  const pairs = pairUp(before, after);
  const unchanged = [...before.values()].filter((entry) => after.get(entry.path)?.oid === entry.oid);
  const followed = unchanged.filter((entry) => isLink(entry) || wantsFile(entry));
  const contents = new Map(
    await git.read([
      ...pairs.flatMap((pair) => [pair.before, pair.after]).flatMap(readable),
      ...followed.map((entry) => entry.oid),
    ]),
  );
  const linked = linkedFiles(pairs, before, contents);
  if (linked.length > 0) for (const [oid, bytes] of await git.read(linked)) contents.set(oid, bytes);
  const changes = pairs.map((pair) => toChange(pair, contents));
  using judge = new ChangeJudge({
    content: (digest) => (digest.startsWith('submodule ') ? Buffer.from(`${digest}\n`) : contents.get(digest)),
    base: baseReader(git, before, contents, config),
  });
  const isAccepted = acceptedBy(await acceptedIn(git, before));
  const findings = await judge.audit({
    changes,
    signal,
    tell,
    ...policySettings(policy),
  });
  return buildReview({
    collected: { changes, problems: [], withheld: [], baseEntries: before.size },
    findings: findings.map((one) => (isAccepted(one) ? noted(one) : one)),
    allowSuspect: policy.allowSuspect,
    includeIgnored: true,
  });
}

const noted = (finding: Finding): Finding => ({
  ...finding,
  severity: 'note',
  why: `Accepted in ${BASELINE_FILE}. ${finding.why}`,
});

/** What the baseline file of a tree accepts. Throws usageError for one that cannot be read. */
async function acceptedIn(git: GitObjects, tree: Tree): Promise<readonly AcceptedFinding[]> {
  const entry = tree.get(BASELINE_FILE);
  if (entry === undefined) return [];
  const isFile = entry.type === 'blob' && !isLink(entry) && entry.size <= MAX_BASELINE_BYTES;
  return readBaseline(isFile ? ((await git.read([entry.oid])).get(entry.oid)?.toString() ?? '') : '');
}

/** The entries of a commit, by path. */
export type Tree = ReadonlyMap<string, TreeEntry>;
interface TreePair {
  readonly path: string;
  readonly before: TreeEntry | undefined;
  readonly after: TreeEntry | undefined;
}

export async function treeOf(git: GitObjects, commit: string): Promise<Tree> {
  return treeByPath(await git.tree(commit));
}

export function treeByPath(entries: readonly TreeEntry[]): Tree {
  return new Map(entries.map((entry) => [entry.path, entry]));
}

function pairUp(before: Tree, after: Tree): TreePair[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths
    .map((one) => ({ path: one, before: before.get(one), after: after.get(one) }))
    .filter((pair) => pair.before?.oid !== pair.after?.oid || pair.before?.mode !== pair.after?.mode);
}

/** Ids of what the audit reads of an unchanged tree: links, and files that refer to others. */
export function followedIn(tree: Tree): string[] {
  return [...tree.values()].filter((entry) => isLink(entry) || wantsFile(entry)).map(({ oid }) => oid);
}

/** The project as a commit has it, with all that the audit reads of a base. `config`: the repository's own configuration. */
export async function readCommitBase(git: GitObjects, commit: string, config: Buffer | undefined): Promise<BaseReader> {
  const tree = await treeOf(git, commit);
  return baseReader(git, tree, await git.read(followedIn(tree)), config);
}

const isLink = (entry: TreeEntry): boolean => entry.mode === '120000';
const wantsFile = (entry: TreeEntry): boolean =>
  entry.type === 'blob' && entry.size <= MAX_FOLLOWED_BYTES && wantsBaseContent(entry.path);

/** The id of a file that is not too large, or none. */
export function readable(entry: TreeEntry | undefined): string[] {
  return entry?.type === 'blob' && entry.size <= MAX_READ_BYTES ? [entry.oid] : [];
}

/** Files of the base that a former link led to: the audit compares them with what replaced the link. */
function linkedFiles(pairs: readonly TreePair[], base: Tree, contents: ReadonlyMap<string, Buffer>): string[] {
  const { linkTarget } = baseReader(undefined, base, contents, undefined);
  return pairs.flatMap(({ path: name, before, after }) => {
    if (before === undefined || !isLink(before) || after === undefined || isLink(after)) return [];
    const target = linkTarget?.(name);
    const linked = target === undefined ? undefined : resolveInBase(linkTarget, name, target);
    return linked === undefined ? [] : readable(base.get(linked));
  });
}

function toChange({ path: name, before, after }: TreePair, contents: ReadonlyMap<string, Buffer>): Change {
  const was = before === undefined ? undefined : entryOf(before, contents);
  const is = after === undefined ? undefined : entryOf(after, contents);
  const problem =
    parseRelPath(name) === undefined
      ? 'a name that no work tree can have'
      : is?.kind === 'symlink' && is.target === undefined
        ? 'the target of the link cannot be read'
        : undefined;
  return {
    path: name as RelPath,
    kind: kindOfChange(was, is, before?.oid === after?.oid),
    ...(was === undefined ? {} : { before: was }),
    ...(is === undefined ? {} : { after: is }),
    ...(problem === undefined ? {} : { problem }),
  };
}

/** An entry of a commit as the audit takes it; `contents` has the targets of links. */
export function entryOf(entry: TreeEntry, contents: ReadonlyMap<string, Buffer>): Entry {
  const { mode, oid, size, type } = entry;
  const common = { mtimeNs: '0', size, mode: mode === '100755' ? 0o755 : 0o644 };
  if (isLink(entry)) {
    const target = contents.get(oid);
    return { ...common, kind: 'symlink', ...(target === undefined ? {} : { target: decodeBytes(target) }) };
  }
  // A submodule's commit, shown as git's own diff shows it.
  if (type === 'commit') return { ...common, kind: 'file', size: 1, digest: `submodule ${oid}` };
  return { ...common, kind: 'file', digest: oid };
}

/**
 * The project before the change, from a commit. `config` is the repository's own configuration. `git` reads programs and
 * documents that other files name, which `contents` lacks, when the audit asks for them.
 */
export function baseReader(
  git: GitObjects | undefined,
  before: Tree,
  contents: ReadonlyMap<string, Buffer>,
  config: Buffer | undefined,
): BaseReader {
  const content = (name: string): Buffer | undefined => {
    const entry = before.get(name);
    if (entry === undefined) return undefined;
    const known = contents.get(entry.oid);
    if (known !== undefined || entry.type !== 'blob' || entry.size > MAX_FOLLOWED_BYTES) return known;
    return isFollowed(name) ? git?.readNow(entry.oid) : undefined;
  };
  return {
    paths: [...before.keys()],
    executables: new Set([...before.values()].filter(({ mode }) => mode === '100755').map(({ path: name }) => name)),
    read: (name) => (name === '.git/config' ? config : content(name)),
    linkTarget: (name) => {
      const entry = before.get(name);
      const target = entry !== undefined && isLink(entry) ? content(name) : undefined;
      return target === undefined ? undefined : decodeBytes(target);
    },
  };
}

/** The repository's own configuration: it names the files of the tree that git would run. */
export async function repositoryConfig(git: GitObjects): Promise<Buffer | undefined> {
  try {
    return readFileSync(path.join(await git.commonDir(), 'config'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
