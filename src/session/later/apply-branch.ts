import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { applyChanges } from '../../apply/apply-changes.ts';
import { EXIT, usageError } from '../../errors.ts';
import { ownVersion } from '../../host/package.ts';
import { ChangeJudge } from '../../judging/change-judge.ts';
import { createBranch, requireNewBranch } from '../../publish/branch.ts';
import { type HeadTree, readHead } from '../../publish/head-tree.ts';
import { bodyOf, messageOf, type Published, titleOf } from '../../publish/pull-request-text.ts';
import { findRemote, openPullRequest, pushBranch, requireGh, unpushedBelow } from '../../publish/push.ts';
import { inSubmodules, layOut, readBack } from '../../publish/scratch-tree.ts';
import { writeCommit } from '../../publish/write-commit.ts';
import { storeDir, updateRecord } from '../../record/session.ts';
import { isApplied } from '../../review/file-progress.ts';
import { chooseClean, outcomeCounts } from '../../review/policy.ts';
import { openContentStore } from '../../store/content.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { askMerge } from '../../terminal/review/ask-merge.ts';
import type { Digest } from '../../types/entry.ts';
import type { Choice, Review } from '../../types/review.ts';
import type { ApplyOutcome, ChangeOutcome, MadeBranch, SessionRecord } from '../../types/session.ts';
import { auditNewBytes } from '../end/apply-session.ts';
import { auditIfMissing } from '../end/audit-collected.ts';
import { endSession } from '../end/end-session.ts';
import { reviewOf } from '../end/frozen-review.ts';
import { decideSession } from '../end/review-session.ts';
import type { UserDeps } from '../start/deps.ts';
import type { ApplyPendingOptions, ApplyResult } from './apply.ts';
import { withAllowed, withoutAutoApply } from './apply.ts';
import { requireEnded } from './require-ended.ts';

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

/** The reason that the record gives for a path whose change is on a branch. */
export const onBranch = (name: string): string => `on branch ${name}`;

/**
 * `apply --branch`: makes a commit of the chosen changes on top of HEAD and a new branch for it. Index, work tree and
 * the current branch stay as they are. What is not clean against HEAD's tree is a conflict and left out.
 *
 * @throws {RunClaudeError} USAGE, BRANCH_EXISTS, GH_MISSING before anything is asked; what requireEnded, auditIfMissing,
 * applyChanges and git throw.
 */
export async function applyToBranch(
  record: SessionRecord,
  deps: UserDeps,
  options: BranchOptions,
): Promise<ApplyResult> {
  requireEnded(record);
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
  const review = reviewOf(allowed, undefined, options.release);
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
  const { outcome } = made;
  if (options.dryRun) {
    const { conflicts, heldBack } = outcomeCounts(outcome);
    return { status: conflicts > 0 ? EXIT.conflict : heldBack > 0 ? EXIT.heldBack : EXIT.ok, outcome };
  }
  const now = made.branch === undefined ? record : rememberBranch(record, outcome, made.branch);
  const status = await endSession({ ...end, record: now, outcome }, deps);
  if (made.branch === undefined) {
    tell(`Branch ${branch} was not made: no chosen change differs from HEAD and applies to it.`);
    return { status, outcome };
  }
  const { commit } = made.branch;
  tell(`Made branch ${branch} at ${commit.slice(0, 10)}, one commit on top of ${head.commit.slice(0, 10)}.`);
  if (remote !== undefined) {
    const others = unpushedBelow(root, commit, remote);
    if (others > 0)
      tell(
        `${others} ${others === 1 ? 'commit' : 'commits'} of yours that ${remote} lacks ${others === 1 ? 'is' : 'are'} pushed with it.`,
      );
    await pushBranch(root, env, { remote, name: branch, commit });
    updateRecord(now, { branches: [...(record.branches ?? []), { ...made.branch, pushedTo: remote }] });
    tell(`Pushed branch ${branch} to ${remote}.`);
  }
  if (options.pr !== undefined) {
    const request = {
      name: branch,
      base: options.pr || undefined,
      title: titleOf(made.published),
      body: bodyOf(made.published),
    };
    tell(`Opened a pull request: ${cleanLine(await openPullRequest(root, env, request))}`);
  }
  return { status, outcome };
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
    const scratch = await layOut(head, chosen, root);
    const store = openContentStore(storeDir(plan.sessionDir));
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
  return one.why === undefined ? one : { ...one, why: one.why.replaceAll('on the host', 'in HEAD') };
}

/** The record with the branch. Paths that an earlier apply brought to the files keep that outcome. */
function rememberBranch(record: SessionRecord, outcome: ApplyOutcome, branch: MadeBranch): SessionRecord {
  const before = new Map(record.outcome?.changes.filter(isApplied).map((one) => [one.path, one]));
  const changes = outcome.changes.map((one): ChangeOutcome => {
    const earlier = before.get(one.path);
    if (earlier !== undefined) return earlier;
    return isApplied(one) ? { ...one, why: onBranch(branch.name) } : one;
  });
  const known = new Set<string>(changes.map((one) => one.path));
  const others = record.outcome?.changes.filter((one) => !known.has(one.path)) ?? [];
  const all = [...changes, ...others].sort((a, b) => (a.path < b.path ? -1 : 1));
  const isPending = all.some(({ verdict }) => !['applied', 'same', 'withheld', 'blocked'].includes(verdict));
  return updateRecord(record, {
    stage: isPending ? 'pending' : 'applied',
    outcome: { ...record.outcome, changes: all, at: outcome.at },
    branches: [...(record.branches ?? []), branch],
  });
}
