import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { GitArguments } from '../../core/host/git.ts';
import { parseBundleHead } from './bundles/bundle.ts';
import { hostGit, hostGitSucceeds, hostTips, refusedCommits } from './host-git.ts';
import type { Repository } from './repositories.ts';

export interface ReceiveRequest {
  /** Work tree of the user's own repository. */
  readonly project: string;
  readonly sessionId: string;
  readonly sessionDir: string;
  /** A bundle that was made in a container, as bytes. */
  readonly bundle: Buffer;
  readonly maxBytes: number;
}

export interface ReceivedBranch {
  /** The session's name for it; 'detached-head' for commits that none of its branches has. */
  readonly branch: string;
  readonly commit: string;
  /** The commits are on no branch of the session: `branch` is run-claude's name for them. */
  readonly isDetached?: boolean;
  /** refs/run-claude/ID/BRANCH: where an import puts it. */
  readonly ref: string;
  /**
   * The newest commit that it shares with the user's branch of that name, or with the user's HEAD. Where git finds no
   * common commit (a shallow clone may lack it), the tip of that branch itself; undefined where there is no commit yet.
   */
  readonly base: string | undefined;
}

/** A session's commits in a temporary repository, checked. The user's repository does not have them yet. */
export interface ReceivedCommits extends Disposable {
  readonly branches: readonly ReceivedBranch[];
  /** Names of refs of the session that are not taken, since no branch may have such a name. Not cleaned. */
  readonly refused: readonly string[];
  /** The temporary bare repository, which borrows objects from the user's. */
  readonly repository: string;
  /** Work tree of the user's own repository. */
  readonly project: string;
  /** Commits that no ref of the user's repository reaches, parents first. */
  readonly commits: readonly string[];
  /** Fetches all branches into the user's repository as refs/run-claude/…; moves no branch, changes no work tree. */
  import(): void;
}

const MAX_COMMITS = 5_000;
/** Of all new objects together: a small pack can unpack to far more than its size. */
const MAX_UNPACKED_BYTES = 2 * 1024 ** 3;

/**
 * Unpacks a bundle in a temporary repository: every object is checked (`index-pack --strict`), sizes are bounded, and
 * no object may be missing. The caller disposes of the result.
 *
 * @throws {RunClaudeError} COMMITS_REFUSED.
 */
export function receiveCommits(request: ReceiveRequest): ReceivedCommits {
  const { project, sessionId, bundle, maxBytes } = request;
  if (!/^[0-9A-Za-z][0-9A-Za-z-]*$/.test(sessionId)) throw refusedCommits('the session id is not a plain name');
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
    const branches = namedBranches(head.branches, head.head, repository).map(({ branch, commit, ...more }) => ({
      branch,
      commit,
      ...more,
      ref: `refs/run-claude/${sessionId}/${branch}`,
      base: baseOf(project, repository, branch, commit),
    }));
    const commits = newCommits(repository, branches, hostTips(project));
    const create = branches.map(({ branch, commit }) => `create refs/heads/${branch}\0${commit}\0`).join('');
    hostGit(repository, ['update-ref', '--stdin', '-z'], Buffer.from(create));
    return {
      branches,
      refused: head.refused,
      repository,
      project,
      commits,
      import: () => fetchInto(project, repository, branches),
      [Symbol.dispose]: drop,
    };
  } catch (error) {
    drop();
    throw error;
  }
}

/** Adds up the objects of the received pack only; the repository's objects include the user's. */
function refuseBomb(repository: string): void {
  const folder = path.join(repository, 'objects', 'pack');
  const index = readdirSync(folder).find((name) => name.endsWith('.idx'));
  if (index === undefined) return;
  const names = hostGit(repository, ['show-index'], readFileSync(path.join(folder, index))).toString();
  const ids = names.split('\n').flatMap((line) => line.split(' ')[1] ?? []);
  const input = Buffer.from(ids.map((id) => `${id}\n`).join(''));
  const sizes = hostGit(repository, ['cat-file', '--batch-check=%(objectsize)'], input).toString().split('\n');
  const total = sizes.reduce((sum, size) => sum + Number(size), 0);
  if (!(total <= MAX_UNPACKED_BYTES)) throw refusedCommits(`they unpack to more than ${MAX_UNPACKED_BYTES} bytes`);
}

function namedBranches(
  branches: ReadonlyMap<string, string>,
  head: string | undefined,
  repository: string,
): Pick<ReceivedBranch, 'branch' | 'commit' | 'isDetached'>[] {
  const named: Pick<ReceivedBranch, 'branch' | 'commit' | 'isDetached'>[] = [...branches].map(([branch, commit]) => ({
    branch,
    commit,
  }));
  const isReached = (id: string): boolean =>
    named.some(({ commit: tip }) => hostGitSucceeds(repository, ['merge-base', '--is-ancestor', id, tip]));
  if (head !== undefined && !isReached(head)) {
    // The session may have a branch of that name itself.
    let name = 'detached-head';
    while (branches.has(name)) name += '-x';
    named.push({ branch: name, commit: head, isDetached: true });
  }
  return named;
}

function baseOf(project: string, repository: string, branch: string, commit: string): string | undefined {
  const names = [`refs/heads/${branch}`, 'HEAD'].map((name) => `${name}^{commit}\n`);
  const asked = hostGit(
    project,
    ['cat-file', '--batch-check=%(objectname) %(objecttype)'],
    Buffer.from(names.join('')),
  );
  const [, own] = /^([0-9a-f]+) commit$/m.exec(asked.toString()) ?? [];
  if (own === undefined || !hostGitSucceeds(repository, ['merge-base', own, commit])) return own;
  return hostGit(repository, ['merge-base', own, commit]).toString().trim();
}

/** The new commits, parents first. A missing object is an error, and is never fetched from elsewhere. */
function newCommits(repository: string, branches: readonly ReceivedBranch[], known: readonly string[]): string[] {
  const lines = [...branches.map(({ commit }) => commit), ...known.map((id) => `^${id}`)];
  const input = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  hostGit(repository, ['rev-list', '--objects', '--quiet', '--stdin'], input);
  const listed = hostGit(
    repository,
    ['rev-list', '--reverse', '--topo-order', `--max-count=${MAX_COMMITS + 1}`, '--stdin'],
    input,
  );
  const commits = listed
    .toString()
    .split('\n')
    .filter((line) => line !== '');
  if (commits.length > MAX_COMMITS) throw refusedCommits(`there are more than ${MAX_COMMITS} of them`);
  return commits;
}

function fetchInto(project: string, repository: string, branches: readonly ReceivedBranch[]): void {
  const wanted = branches.map(({ branch, ref }) => `+refs/heads/${branch}:${ref}`);
  const quiet = ['--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-auto-maintenance', '--quiet'];
  const fetch: GitArguments = ['fetch', ...quiet, '--end-of-options', repository, ...wanted];
  hostGit(project, fetch, undefined, { allowsFileTransport: true });
}

/** Refs of a session that no import takes, although the user's repository does not have them. */
export interface LeftRefs {
  readonly repository: Repository;
  /** 'tag v1', 'notes commits', 'the stash': not cleaned for the terminal. */
  readonly names: readonly string[];
}

/**
 * Which of these refs (`OID NAME`, as the session lists them) the user's repository does not have, in words. Throws
 * COMMITS_REFUSED where git cannot read it.
 */
export function leftRefs(repository: Repository, others: readonly string[]): LeftRefs[] {
  if (others.length === 0) return [];
  const listed = hostGit(repository.place, [
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    ...['refs/tags', 'refs/notes', 'refs/stash', 'refs/replace'],
  ]);
  const known = new Set(listed.toString().split('\n'));
  const names = others.filter((one) => !known.has(one)).map((one) => refWords(one.slice(one.indexOf(' ') + 1)));
  return names.length === 0 ? [] : [{ repository, names }];
}

function refWords(ref: string): string {
  if (ref === 'refs/stash') return 'the stash';
  const [, kind, name = ref] = /^refs\/(tags|notes|replace)\/(.*)$/s.exec(ref) ?? [];
  return kind === 'tags' ? `tag ${name}` : kind === 'replace' ? `replacement of ${name.slice(0, 10)}` : `notes ${name}`;
}
