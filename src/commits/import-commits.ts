import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { GitArguments } from '../host/git.ts';
import { parseBundleHead } from './bundle.ts';
import { hostGit, hostGitSays, hostTips, refusedCommits } from './host-git.ts';

export interface ReceiveRequest {
  /** The person's own repository (its work tree). */
  readonly project: string;
  readonly sessionId: string;
  readonly sessionDir: string;
  /** A bundle that was made in a container, as bytes. */
  readonly bundle: Buffer;
  readonly maxBytes: number;
}

export interface ReceivedBranch {
  /** As the session named it; 'detached-head' for commits that no branch of it has. */
  readonly branch: string;
  readonly commit: string;
  /** refs/run-claude/ID/BRANCH: where an import puts it. */
  readonly ref: string;
  /**
   * What the person has of it: the newest commit that it shares with their branch of that name, or with their HEAD. That
   * itself where git finds none in common (a shallow clone may lack it), nothing where they have no commit yet.
   */
  readonly base: string | undefined;
}

/** A session's commits in a repository of our own, checked; the person's repository does not know of them yet. */
export interface ReceivedCommits extends Disposable {
  readonly branches: readonly ReceivedBranch[];
  /** Our bare repository: it sees the person's objects besides. */
  readonly repository: string;
  /** Commits that the person's repository does not reach, parents first. */
  readonly commits: readonly string[];
  /** Brings all branches as refs of ours into the person's repository; moves no branch, touches no work tree. */
  import(): void;
}

const MOST_COMMITS = 5_000;
/** All new objects unpacked; a small pack can hold far more than it weighs. */
const MOST_UNPACKED = 2 * 1024 ** 3;

/**
 * Takes a bundle apart in a repository of our own: every object is checked (`index-pack --strict`), sizes are bounded,
 * nothing may be missing. Preconditions: the caller disposes it. Throws RunClaudeError COMMITS_REFUSED.
 */
export function receiveCommits(request: ReceiveRequest): ReceivedCommits {
  const { project, sessionId, bundle, maxBytes } = request;
  if (!/^[0-9A-Za-z][0-9A-Za-z-]*$/.test(sessionId)) throw refusedCommits('the session has no plain name');
  if (bundle.length > maxBytes) throw refusedCommits(`they take more than ${maxBytes} bytes`);
  const head = parseBundleHead(bundle);
  const repository = mkdtempSync(path.join(request.sessionDir, 'import-'));
  const drop = (): void => rmSync(repository, { recursive: true, force: true });
  try {
    const objects = hostGit(project, ['rev-parse', '--path-format=absolute', '--git-path', 'objects']);
    hostGit(repository, ['init', '-q', '--bare', `--object-format=${head.objectFormat}`, '--template=', '.']);
    mkdirSync(path.join(repository, 'objects', 'info'), { recursive: true });
    writeFileSync(path.join(repository, 'objects', 'info', 'alternates'), objects);
    const pack = bundle.subarray(head.packAt);
    hostGit(repository, ['index-pack', '--stdin', '--strict', '--fix-thin', `--max-input-size=${maxBytes}`], pack);
    refuseBomb(repository);
    const branches = namedBranches(head.branches, head.head, repository).map(({ branch, commit }) => ({
      branch,
      commit,
      ref: `refs/run-claude/${sessionId}/${branch}`,
      base: baseOf(project, repository, branch, commit),
    }));
    const commits = newCommits(repository, branches, hostTips(project));
    const create = branches.map(({ branch, commit }) => `create refs/heads/${branch}\0${commit}\0`).join('');
    hostGit(repository, ['update-ref', '--stdin', '-z'], Buffer.from(create));
    return {
      branches,
      repository,
      commits,
      import: () => fetchInto(project, repository, branches),
      [Symbol.dispose]: drop,
    };
  } catch (error) {
    drop();
    throw error;
  }
}

/** By what the index of our own pack names; all objects would be the person's too. */
function refuseBomb(repository: string): void {
  const folder = path.join(repository, 'objects', 'pack');
  const index = readdirSync(folder).find((name) => name.endsWith('.idx'));
  if (index === undefined) return;
  const names = hostGit(repository, ['show-index'], readFileSync(path.join(folder, index))).toString();
  const ids = names.split('\n').flatMap((line) => line.split(' ')[1] ?? []);
  const input = Buffer.from(ids.map((id) => `${id}\n`).join(''));
  const sizes = hostGit(repository, ['cat-file', '--batch-check=%(objectsize)'], input).toString().split('\n');
  const total = sizes.reduce((sum, size) => sum + Number(size), 0);
  if (!(total <= MOST_UNPACKED)) throw refusedCommits(`they unpack to more than ${MOST_UNPACKED} bytes`);
}

function namedBranches(
  branches: ReadonlyMap<string, string>,
  head: string | undefined,
  repository: string,
): Pick<ReceivedBranch, 'branch' | 'commit'>[] {
  const named = [...branches];
  const isReached = (id: string): boolean =>
    named.some(([, tip]) => hostGitSays(repository, ['merge-base', '--is-ancestor', id, tip]));
  if (head !== undefined && !isReached(head)) {
    // Nothing keeps a session from a branch of that name.
    let name = 'detached-head';
    while (branches.has(name)) name += '-x';
    named.push([name, head]);
  }
  return named.map(([branch, commit]) => ({ branch, commit }));
}

function baseOf(project: string, repository: string, branch: string, commit: string): string | undefined {
  const names = [`refs/heads/${branch}`, 'HEAD'].map((name) => `${name}^{commit}\n`);
  const asked = hostGit(
    project,
    ['cat-file', '--batch-check=%(objectname) %(objecttype)'],
    Buffer.from(names.join('')),
  );
  const [, own] = /^([0-9a-f]+) commit$/m.exec(asked.toString()) ?? [];
  if (own === undefined || !hostGitSays(repository, ['merge-base', own, commit])) return own;
  return hostGit(repository, ['merge-base', own, commit]).toString().trim();
}

/** Complete: a missing object is an error here and is never fetched from elsewhere. */
function newCommits(repository: string, branches: readonly ReceivedBranch[], known: readonly string[]): string[] {
  const lines = [...branches.map(({ commit }) => commit), ...known.map((id) => `^${id}`)];
  const input = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  hostGit(repository, ['rev-list', '--objects', '--quiet', '--stdin'], input);
  const listed = hostGit(
    repository,
    ['rev-list', '--reverse', '--topo-order', `--max-count=${MOST_COMMITS + 1}`, '--stdin'],
    input,
  );
  const commits = listed
    .toString()
    .split('\n')
    .filter((line) => line !== '');
  if (commits.length > MOST_COMMITS) throw refusedCommits(`there are more than ${MOST_COMMITS} of them`);
  return commits;
}

function fetchInto(project: string, repository: string, branches: readonly ReceivedBranch[]): void {
  const wanted = branches.map(({ branch, ref }) => `+refs/heads/${branch}:${ref}`);
  const quiet = ['--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-auto-maintenance', '--quiet'];
  const fetch: GitArguments = ['fetch', ...quiet, '--end-of-options', repository, ...wanted];
  hostGit(project, fetch, undefined, { allowsFileTransport: true });
}
