import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { EVERYTHING } from '../../../src/core/text/selection.ts';
import type { ConflictRule } from '../../../src/core/types/change/conflict.ts';
import type { Collected } from '../../../src/core/types/entry.ts';
import type { Finding } from '../../../src/core/types/finding.ts';
import type { Choice, Decision, Review } from '../../../src/core/types/review.ts';
import type { ApplyOutcome } from '../../../src/core/types/session.ts';
import { applyChanges } from '../../../src/review/apply/apply-changes.ts';
import { buildReview } from '../../../src/review/choices/build-review.ts';
import { heldRemoval } from '../../../src/review/choices/decisions.ts';
import { fileDiff } from '../../../src/review/choices/file-diff.ts';
import { applyHunks } from '../../../src/review/choices/hunks.ts';
import { chooseAccepted, chooseClean, chooseSelected, LEFT, type Picked } from '../../../src/review/choices/policy.ts';
import { matchRenames } from '../../../src/review/choices/renames/match-renames.ts';
import { summaryLines } from '../../../src/review/screen/summary.ts';
import { lackingPaths } from '../../../src/workspace/scan/lacking.ts';
import { collectChanges } from '../../../src/workspace/view/collect/collect.ts';
import { memoryStore, readTree, type Tree, writeTree } from '../apply/tree.ts';
import { treeCollector } from './tree-collector.ts';

export type Way = 'auto' | 'y' | 's' | 'only' | 'skip';

/** One session, the host as it is by then, and how its changes are chosen. */
export interface ChoosingRun {
  readonly base: Tree;
  readonly session: Tree;
  readonly host: Tree;
  readonly way: Way;
  readonly globs: readonly string[];
  readonly includeIgnored: readonly string[];
  /** Passed to `apply`, after the session. */
  readonly release: readonly string[];
  readonly conflict: ConflictRule;
  /** Answers and findings: a number for the name of what is asked about. */
  readonly roll: (name: string, below: number) => number;
}

export interface Chosen {
  readonly run: ChoosingRun;
  readonly collected: Collected;
  readonly review: Review;
  readonly choice: Choice;
  /** Decisions of which only the deletions were accepted, by their own question. */
  readonly deleted: ReadonlySet<string>;
  readonly outcome: ApplyOutcome;
  readonly summary: string;
  readonly now: Tree;
}

/** The real collection, choice and apply, in an empty folder. */
export async function choosingRun(run: ChoosingRun, root: string): Promise<Chosen> {
  const store = memoryStore();
  const collected = await collectChanges({
    ...treeCollector(run.base, run.session),
    store,
    frozen: { content: (_root, _entry, freeze) => freeze(), save: () => undefined },
    lacking: lackingPaths(EVERYTHING, []),
    includeIgnored: run.includeIgnored,
    baseEntries: 1000,
    sparseBytes: 0,
    room: async () => 1e9,
    match: matchRenames,
    tell: () => undefined,
  });
  const severities = ['suspect', 'blocked', 'note', 'note', 'note', 'note', 'note', 'note'] as const;
  const findings = collected.changes.map(({ path: name }): Finding => {
    const severity = severities[run.roll(`finding ${name}`, severities.length)] ?? 'note';
    return { rule: 'r', severity, path: name, title: 't', why: severity };
  });
  const review = buildReview({
    collected,
    findings,
    allowSuspect: [],
    includeIgnored: run.includeIgnored,
    release: run.release,
  });
  const deleted = new Set<string>();
  const choice = await chooseBy(run, review, deleted, store);
  const project = path.join(root, 'project');
  const sessionDir = path.join(root, 'state', 'sessions', '1');
  rmSync(root, { recursive: true, force: true });
  mkdirSync(project, { recursive: true });
  writeTree(project, run.host);
  const outcome = await applyChanges({
    project,
    sessionDir,
    choice,
    store,
    conflict: run.conflict,
    dryRun: false,
    tell: () => undefined,
    audit: () => [],
    acceptMerge: async () => run.roll('merge', 2) === 0,
  });
  const summary = summaryLines(review)
    .map(({ text }) => text)
    .join('\n');
  return { run, collected, review, choice, deleted, outcome, summary, now: readTree(project) };
}

async function chooseBy(
  run: ChoosingRun,
  review: Review,
  deleted: Set<string>,
  store: ReturnType<typeof memoryStore>,
): Promise<Choice> {
  const { way, roll, globs } = run;
  if (way === 'auto') return chooseClean(review);
  if (way === 'only') return chooseClean(review, { only: globs, skip: [] });
  if (way === 'skip') return chooseClean(review, { only: [], skip: globs });
  const held = new Map<Decision, Picked>();
  for (const decision of review.decisions) {
    const name = `held ${decision.lead.change.path}`;
    if (decision.isUnignored && roll(name, 2) === 0) held.set(decision, 'apply');
    else if (heldRemoval(decision) !== undefined && roll(name, 3) === 0) {
      held.set(decision, 'delete');
      for (const { change } of heldRemoval(decision)?.removed ?? []) deleted.add(change.path);
    }
  }
  if (way === 'y') {
    const accepted = review.decisions.filter(({ lead }) => roll(`suspect ${lead.change.path}`, 2) === 0);
    return chooseAccepted(review, new Set(accepted), held);
  }
  const picked = new Map<Decision, Picked>(held);
  for (const decision of review.decisions) {
    if (decision.state === 'withheld') continue;
    const answer = roll(`pick ${decision.lead.change.path}`, 3);
    picked.set(decision, answer === 0 ? LEFT : answer === 1 ? 'apply' : await someParts(decision, store));
  }
  return chooseSelected(review, picked);
}

/** The first part of what differs, where there are parts; else all of it. */
async function someParts({ lead, items }: Decision, store: ReturnType<typeof memoryStore>): Promise<Picked> {
  const { before = lead.renamedEntry, after } = lead.change;
  const isPlain = items.length === (lead.renamedFrom === undefined ? 1 : 2) && lead.change.kind !== 'type';
  if (!isPlain || after?.digest === undefined) return 'apply';
  const old = before?.digest === undefined ? undefined : await store.read(before.digest);
  const diff = fileDiff(lead.change, old, await store.read(after.digest));
  if (diff.kind !== 'text' || diff.hunks.length === 0) return 'apply';
  return { content: applyHunks(diff.before, diff.hunks.slice(0, 1)) };
}
