import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError, usageError } from '../../core/errors.ts';
import { ownVersion } from '../../core/host/package.ts';
import { openContentStore } from '../../core/store/content.ts';
import type { Digest } from '../../core/types/entry.ts';
import type { Choice, Review } from '../../core/types/review.ts';
import type { ApplyOutcome, ChangeOutcome, MadeBranch, SessionRecord } from '../../core/types/session.ts';
import { applyChanges } from '../../review/apply/apply-changes.ts';
import { IN_PART, isApplied, onBranch, partOnBranch } from '../../review/choices/file-progress.ts';
import { chooseClean } from '../../review/choices/policy.ts';
import { ChangeJudge } from '../../review/judging/change-judge.ts';
import { createBranch, requireNewBranch } from '../../review/publish/branch.ts';
import { type HeadTree, readHead } from '../../review/publish/head-tree.ts';
import { bodyOf, messageOf, type Published, titleOf } from '../../review/publish/pull-request-text.ts';
import { findRemote, openPullRequest, pushBranch, requireGh, unpushedBelow } from '../../review/publish/push.ts';
import { inSubmodules, layOut, readBack } from '../../review/publish/scratch-tree.ts';
import { writeCommit } from '../../review/publish/write-commit.ts';
import { askMerge } from '../../review/screen/ask-merge.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { auditNewBytes, stageAfter } from '../end/apply-session.ts';
import { auditIfMissing } from '../end/audit-collected.ts';
import { bringChosenBack } from '../end/claude-data.ts';
import { endDryRun } from '../end/dry-run.ts';
import { endSession } from '../end/end-session.ts';
import { reviewOf } from '../end/frozen-review.ts';
import { withoutApplied } from '../end/remaining-changes.ts';
import { decideSession } from '../end/review-session.ts';
import { requireChanges } from '../record/require-usable.ts';
import { readCollected, storeDir, updateRecord } from '../record/session.ts';
import type { UserDeps } from '../stage/deps.ts';
import type { ApplyPendingOptions, ApplyResult } from './apply.ts';
import { withAllowed, withoutAutoApply } from './apply.ts';
import { unmatchedLines } from './unmatched.ts';

export interface BranchOptions extends ApplyPendingOptions {
  /** The new branch. */
  readonly branch: string;
  /** Pushes it: to this remote, or with '' to the one that git would take. */
  readonly push?: string;
  /** Opens a pull request: into this branch, or with '' into the repository's default. */
  readonly pr?: string;
  readonly title?: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * `apply --branch`: makes a commit of the chosen changes on top of HEAD and a new branch for it. Index, work tree and
 * the current branch stay as they are. What is not clean against HEAD's tree is a conflict and left out. Claude's own data
 * comes back as with an apply to the files.
 *
 * @throws {RunClaudeError} USAGE, BRANCH_EXISTS, GH_MISSING before anything is asked; what requireChanges, auditIfMissing,
 * applyChanges and git throw. Once the branch is made, a push or pull request that failed has a hint how to go on.
 */
export async function applyToBranch(
  record: SessionRecord,
  deps: UserDeps,
  options: BranchOptions,
): Promise<ApplyResult> {
  requireChanges(record);
  const { branch, env } = options;
  const { root } = record.plan.project;
  if (options.conflict === 'file' || options.conflict === 'markers')
    throw usageError(`--branch: a commit cannot hold --conflict=${options.conflict}`, 'Use keep or theirs.');
  const head = await readHead(root, env);
  requireNewBranch(root, branch);
  const isPushed = options.push !== undefined || options.pr !== undefined;
  const remote = isPushed ? await findRemote(root, env, options.push || undefined) : undefined;
  if (options.pr !== undefined) await requireGh(root, env);
  await auditIfMissing(record, deps);
  const allowed = withAllowed(record, options.allowSuspect ?? []);
  // Of Claude's data only what did not come back yet.
  const collected = withoutApplied(readCollected(record.plan.sessionDir), new Set(), record.outcome);
  const review = reviewOf(allowed, collected, options.release);
  for (const line of unmatchedLines(options, { review, withoutRelease: reviewOf(allowed, collected) }))
    deps.tell({ kind: 'message', level: 'warning', text: line });
  const isFiltered = options.filter.only.length > 0 || options.filter.skip.length > 0;
  const isAsked = !options.yes && !options.dryRun && !isFiltered;
  const tell = (text: string): void => deps.tell({ kind: 'message', level: 'info', text });
  if (isAsked) tell(`The changes go to the new branch ${branch}; your files stay as they are.`);
  const choice = isAsked
    ? await decideSession({ ...allowed, plan: withoutAutoApply(allowed) }, review, deps, false)
    : chooseClean(review, options.filter);
  const end = { record, review, choice, agent: { status: 0, stopReason: undefined }, isAsked };
  if (choice.discard || !choice.decided) return { status: await endSession(end, deps) };
  const made = await commitChoice(allowed, choice, { review, head, options, deps });
  if (options.dryRun) {
    const { outcome } = made;
    return { status: endDryRun(record, { review, whole: reviewOf(record), outcome }, deps), outcome };
  }
  const marked = made.branch === undefined ? record : rememberBranch(record, made.outcome, made.branch);
  const claude = await bringChosenBack(record, choice, deps);
  const outcome: ApplyOutcome = { ...made.outcome, claude };
  const now = rememberClaude(marked, outcome);
  const status = await endSession({ ...end, record: now, outcome }, deps);
  if (made.branch === undefined) {
    tell(`Branch ${branch} was not made: no chosen change differs from HEAD and applies to it.`);
    return { status, outcome };
  }
  const { commit } = made.branch;
  tell(`Made branch ${branch} at ${commit.slice(0, 10)}, one commit on top of ${head.commit.slice(0, 10)}.`);
  if (remote !== undefined) await publish(now, made.branch, made.published, { remote, options, tell });
  return { status, outcome };
}

/** Pushes the branch, and opens a pull request where that was asked for. */
async function publish(
  record: SessionRecord,
  made: MadeBranch,
  published: Published,
  { remote, options, tell }: PublishOptions,
): Promise<void> {
  const { env, pr } = options;
  const { root } = record.plan.project;
  const { name, commit } = made;
  const others = unpushedBelow(root, commit, remote);
  if (others > 0)
    tell(
      `${others} ${others === 1 ? 'commit' : 'commits'} of yours that ${remote} lacks ${others === 1 ? 'is' : 'are'} pushed with it.`,
    );
  const base = pr ? ` --base='${pr.replaceAll("'", "'\\''")}'` : '';
  const create = `gh pr create --head=${name}${base}`;
  const next = `git push ${remote} ${name}${pr === undefined ? '' : `, then ${create}`}`;
  await withNext(pushBranch(root, env, { remote, name, commit }), `Branch ${name} is made. Push it`, next, record);
  updateRecord(record, { branches: [...(record.branches ?? []).slice(0, -1), { ...made, pushedTo: remote }] });
  tell(`Pushed branch ${name} to ${remote}.`);
  if (pr === undefined) return;
  const request = { name, base: pr || undefined, title: titleOf(published), body: bodyOf(published) };
  const opened = openPullRequest(root, env, request);
  const address = await withNext(opened, `Branch ${name} is made and pushed. Open the pull request`, create, record);
  tell(`Opened a pull request: ${cleanLine(address)}`);
}

interface PublishOptions {
  readonly remote: string;
  readonly options: BranchOptions;
  readonly tell: (text: string) => void;
}

/** A failure after the branch was made says that, and how to go on or back. */
async function withNext<T>(doing: Promise<T>, state: string, next: string, { id }: SessionRecord): Promise<T> {
  try {
    return await doing;
  } catch (error) {
    if (!(error instanceof RunClaudeError)) throw error;
    const { code, message, status } = error;
    const hint = `${state} with: ${next}. Or delete it with: run-claude undo ${id}`;
    throw new RunClaudeError(code, message, { status, cause: error, hint });
  }
}

interface Committed {
  readonly outcome: ApplyOutcome;
  /** Undefined where nothing differs from HEAD. */
  readonly branch: MadeBranch | undefined;
  readonly published: Published;
}

interface Committing {
  readonly review: Review;
  readonly head: HeadTree;
  readonly options: BranchOptions;
  readonly deps: UserDeps;
}

/** Applies the choice to HEAD's tree in a directory of run-claude's, and writes what came of it as a commit. */
async function commitChoice(
  record: SessionRecord,
  choice: Choice,
  { review, head, options, deps }: Committing,
): Promise<Committed> {
  const { plan, id } = record;
  const { screen } = deps;
  const dir = mkdtempSync(path.join(plan.sessionDir, 'branch-'));
  const root = path.join(dir, 'tree');
  const journals = path.join(dir, 'apply', 'journals');
  mkdirSync(journals, { recursive: true, mode: 0o700 });
  try {
    const outside = inSubmodules(head, choice.chosen);
    const chosen = choice.chosen.filter(({ change }) => !outside.has(change.path));
    const store = openContentStore(storeDir(plan.sessionDir));
    const scratch = await layOut(head, chosen, root, store);
    let merged: ReadonlyMap<Digest, Buffer> = new Map();
    using judge = new ChangeJudge({ content: (digest) => merged.get(digest) });
    const applied = await applyChanges({
      project: root,
      sessionDir: journals,
      choice: { ...choice, chosen },
      store,
      conflict: options.conflict === 'theirs' ? 'theirs' : 'keep',
      dryRun: options.dryRun,
      tell: deps.tell,
      signal: deps.interruption.signal,
      audit: (change, contents) => {
        merged = contents;
        return auditNewBytes(change, judge, plan.policy);
      },
      acceptMerge: async (merge) => options.yes || (screen !== undefined && askMerge(screen, merge)),
    });
    const submodules = [...outside].map((one): ChangeOutcome => {
      return {
        path: one as ChangeOutcome['path'],
        verdict: 'conflict',
        why: 'it is in a submodule, which has commits of its own',
      };
    });
    const outcome = {
      ...applied,
      changes: [...applied.changes.map(inHead), ...submodules].sort((a, b) => (a.path < b.path ? -1 : 1)),
    };
    const done = new Set<string>(outcome.changes.filter(isApplied).map((one) => one.path));
    const items = review.items.filter(({ change }) => done.has(change.path));
    const published: Published = {
      sessionId: id,
      tool: ownVersion(),
      title: options.title ?? record.note,
      changes: items.map(({ change }) => change),
      findings: items.flatMap(({ findings }) => findings),
      left: review.items.filter(({ change, state }) => !done.has(change.path) && state !== 'git').length,
    };
    if (options.dryRun || done.size === 0) return { outcome, branch: undefined, published };
    const files = await readBack(scratch, head, store);
    const { project } = plan;
    const message = messageOf(published);
    const commit = await writeCommit({ project: project.root, env: options.env, head, scratch, files, message });
    if (commit === undefined) return { outcome, branch: undefined, published };
    createBranch(project.root, options.branch, commit, id);
    return { outcome, branch: { name: options.branch, commit, at: outcome.at }, published };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The other side of a merge is HEAD here, where an apply to files says 'the host'. */
function inHead(one: ChangeOutcome): ChangeOutcome {
  const ways = one.ways?.filter((way) => way === 'theirs');
  const why = one.why?.replaceAll('on the host', 'in HEAD');
  return { ...one, ...(why !== undefined && { why }), ...(ways !== undefined && { ways }) };
}

/**
 * The outcomes of a session after a branch was made with `made`. Paths that an earlier apply brought keep that outcome, and
 * of a file of which some hunks are on the branch the rest waits. Pure.
 */
export function outcomesWithBranch(
  earlier: readonly ChangeOutcome[],
  made: readonly ChangeOutcome[],
  name: string,
): readonly ChangeOutcome[] {
  const before = new Map(earlier.filter(isApplied).map((one) => [one.path, one]));
  const changes = made.map((one): ChangeOutcome => {
    const known = before.get(one.path);
    if (known !== undefined) return known;
    if (!isApplied(one)) return one;
    if (one.why === IN_PART) return { path: one.path, verdict: 'skipped', why: partOnBranch(name) };
    return { ...one, why: onBranch(name) };
  });
  const named = new Set<string>(changes.map((one) => one.path));
  const others = earlier.filter((one) => !named.has(one.path));
  return [...changes, ...others].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function rememberBranch(record: SessionRecord, outcome: ApplyOutcome, branch: MadeBranch): SessionRecord {
  const changes = outcomesWithBranch(record.outcome?.changes ?? [], outcome.changes, branch.name);
  return updateRecord(record, {
    // What became of Claude's data is known after that.
    stage: stageAfter({ changes, at: outcome.at }),
    outcome: { ...record.outcome, changes, at: outcome.at },
    branches: [...(record.branches ?? []), branch],
  });
}

/** The record with what became of Claude's data, which comes back with a branch or without one. */
function rememberClaude(record: SessionRecord, { claude = [], at }: ApplyOutcome): SessionRecord {
  if (claude.length === 0) return record;
  const isOpen = stageAfter({ changes: [], claude, at }) === 'pending';
  return updateRecord(record, {
    outcome: { ...(record.outcome ?? { changes: [], at }), claude },
    stage: isOpen ? 'pending' : record.stage,
  });
}
