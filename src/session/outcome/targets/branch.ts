import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ownVersion } from '../../../core/host/package.ts';
import type { Conflict, ConflictRule } from '../../../core/types/change/conflict.ts';
import type { Review } from '../../../core/types/review.ts';
import type { ApplyOutcome, ChangeOutcome, MadeBranch, SessionRecord } from '../../../core/types/session.ts';
import { applyChanges } from '../../../review/apply/apply-changes.ts';
import { IN_PART, isApplied, onBranch, partOnBranch } from '../../../review/choices/file-progress.ts';
import { createBranch, freeName, requireNewBranch } from '../../../review/publish/branch.ts';
import { messageOf, type Published } from '../../../review/publish/pull-request-text.ts';
import { findRemote, requireGh } from '../../../review/publish/push.ts';
import { inSubmodules, layOut, readBack, readHead, type ScratchTree } from '../../../review/publish/scratch-tree.ts';
import { writeCommit } from '../../../review/publish/write-commit.ts';
import { updateRecord } from '../../record/session.ts';
import type { UserDeps } from '../../stage/deps.ts';
import { recordNow } from '../applied-since.ts';
import { publishBranch } from './publish-branch.ts';
import type { Target, TargetOptions, TargetRequest } from './target.ts';

/** The rules for conflicts whose result a commit can hold. */
export const BRANCH_CONFLICTS: readonly ConflictRule[] = ['keep', 'theirs'];

/**
 * `--branch`: one commit of the chosen changes on top of HEAD, with a new branch for it. Index, work tree and the current
 * branch stay as they are. What is not clean against HEAD's tree is a conflict and left out. `--push` and `--pr` are done
 * once the outcome is on record; where one fails, its error says how to go on.
 *
 * @throws {RunClaudeError} USAGE, BRANCH_EXISTS, GH_MISSING; what git throws.
 */
export async function openBranch(
  record: SessionRecord,
  deps: UserDeps,
  { env, given }: TargetOptions,
): Promise<Target> {
  const { plan, id } = record;
  const { root } = plan.project;
  const branch = given.get('branch') ?? '';
  const pr = given.get('pr');
  const head = await readHead(root, env);
  requireNewBranch(root, branch);
  const isPushed = given.has('push') || pr !== undefined;
  const remote = isPushed ? await findRemote(root, env, given.get('push') || undefined) : undefined;
  if (pr !== undefined) await requireGh(root, env);
  const tell = (text: string): void => deps.tell({ kind: 'message', level: 'info', text });

  /** The commit and the branch; undefined where nothing differs from HEAD. */
  const make = async (scratch: ScratchTree, store: TargetRequest['store'], text: Published) => {
    const files = await readBack(scratch, head, store);
    const commit = await writeCommit({ project: root, env, head, scratch, files, message: messageOf(text) });
    if (commit !== undefined) createBranch(root, branch, commit, id);
    return commit;
  };

  return {
    async apply(request, review) {
      const dir = mkdtempSync(path.join(plan.sessionDir, 'branch-'));
      const scratchRoot = path.join(dir, 'tree');
      const journals = path.join(dir, 'apply', 'journals');
      mkdirSync(journals, { recursive: true, mode: 0o700 });
      try {
        const { choice, store, askConflict } = request;
        const outside = inSubmodules(head, choice.chosen);
        const chosen = choice.chosen.filter(({ change }) => !outside.has(change.path));
        const scratch = await layOut(head, chosen, scratchRoot, store);
        // What HEAD lacks cannot have changed there.
        const leftMembers = request.leftMembers?.filter(
          ({ path: own, entry }) => entry === undefined || head.entries.has(head.prefix + own),
        );
        const applied = await applyChanges({
          ...request,
          ...(leftMembers && { leftMembers }),
          project: scratchRoot,
          sessionDir: journals,
          choice: { ...choice, chosen },
          ...(askConflict && { askConflict: whereHeld(askConflict) }),
        });
        const outcome = withSubmodules(applied, outside);
        const text = publishedText(record, review, outcome, given.get('title'));
        const isEmpty = request.dryRun || !outcome.changes.some(isApplied);
        const commit = isEmpty ? undefined : await make(scratch, store, text);
        if (commit === undefined) {
          return {
            outcome,
            recorded: (earlier) => outcomesWithBranch(earlier, outcome.changes, 'HEAD'),
            finish: () => tell(`Branch ${branch} was not made: no chosen change differs from HEAD and applies to it.`),
          };
        }
        const made: MadeBranch = { name: branch, commit, at: outcome.at };
        // On record before anything else can fail: undo deletes it.
        const before = recordNow(record);
        updateRecord(before, { branches: [...(before.branches ?? []), made] });
        return {
          outcome,
          recorded: (earlier) => outcomesWithBranch(earlier, outcome.changes, branch),
          async finish(now) {
            tell(`Made branch ${branch} at ${commit.slice(0, 10)}, one commit on top of ${head.commit.slice(0, 10)}.`);
            if (remote !== undefined) await publishBranch(now, made, text, { remote, pr, env, tell });
          },
        };
      } finally {
        rmSync(dir, { recursive: true, force: true });
      }
    },
    has: ({ verdict }) => verdict === 'same',
    words: {
      before: (isAsked) =>
        isAsked ? [`The changes go to the new branch ${branch}; your files stay as they are.`] : [],
      place: 'in HEAD',
      kept: (count) =>
        count === 1 ? "HEAD's version of this file was kept." : `HEAD's versions of these ${count} files were kept.`,
      command: () => `run-claude apply ${id} --branch ${freeName(root, branch)}`,
    },
  };
}

/** Asks only where a commit can hold another answer than to keep HEAD's version. */
function whereHeld(ask: NonNullable<TargetRequest['askConflict']>): NonNullable<TargetRequest['askConflict']> {
  return async (conflict: Conflict) => {
    const rules = conflict.rules.filter((rule) => BRANCH_CONFLICTS.includes(rule));
    return rules.length > 1 ? ask({ ...conflict, rules }) : { rule: 'keep', forAll: false };
  };
}

/** The outcome with changes in submodules, which are left to their repositories, in the words of a branch. */
function withSubmodules(applied: ApplyOutcome, outside: ReadonlySet<string>): ApplyOutcome {
  const submodules = [...outside].map((one): ChangeOutcome => {
    return {
      path: one as ChangeOutcome['path'],
      verdict: 'conflict',
      why: 'it is in a submodule, which has commits of its own',
    };
  });
  const changes = [...applied.changes.map(inHead), ...submodules].sort((a, b) => (a.path < b.path ? -1 : 1));
  return { ...applied, changes };
}

/** The other side of a merge is HEAD here, where an apply to files says 'the host'. */
function inHead(one: ChangeOutcome): ChangeOutcome {
  const ways = one.ways?.filter((way) => BRANCH_CONFLICTS.includes(way));
  const why = one.why?.replaceAll('on the host', 'in HEAD').replaceAll('the host', 'HEAD');
  return { ...one, ...(why !== undefined && { why }), ...(ways !== undefined && { ways }) };
}

function publishedText(
  { id, note }: SessionRecord,
  { items }: Review,
  { changes }: ApplyOutcome,
  title = note,
): Published {
  const done = new Set<string>(changes.filter(isApplied).map((one) => one.path));
  const inCommit = items.filter(({ change }) => done.has(change.path));
  return {
    sessionId: id,
    tool: ownVersion(),
    title,
    changes: inCommit.map(({ change }) => change),
    findings: inCommit.flatMap(({ findings }) => findings),
    left: items.filter(({ change, state }) => !done.has(change.path) && state !== 'git').length,
  };
}

/**
 * The outcomes for the record of an apply to a branch. What an earlier apply brought keeps that outcome, and of a file of
 * which some hunks are on the branch the rest waits. Pure.
 */
export function outcomesWithBranch(
  earlier: readonly ChangeOutcome[],
  made: readonly ChangeOutcome[],
  name: string,
): readonly ChangeOutcome[] {
  const before = new Map(earlier.filter(isApplied).map((one) => [one.path, one]));
  return made.map((one): ChangeOutcome => {
    const known = before.get(one.path);
    if (known !== undefined) return known;
    if (!isApplied(one)) return one;
    if (one.why === IN_PART) return { path: one.path, verdict: 'skipped', why: partOnBranch(name) };
    return { ...one, why: onBranch(name) };
  });
}
