import { deepStrictEqual } from 'node:assert';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Choice } from '../../../src/core/types/review.ts';
import { applyChanges } from '../../../src/review/apply/apply-changes.ts';
import { undoApply } from '../../../src/review/apply/undo.ts';
import { expectedHost } from './model.ts';
import { edited, random, randomTree } from './random-tree.ts';
import { changesBetween, memoryStore, type Node, readTimes, readTree, type Tree, writeTree } from './tree.ts';

export const sorted = (tree: ReadonlyMap<string, unknown>): unknown[] => [...tree].sort(([a], [b]) => (a < b ? -1 : 1));

/** One random tree, with random edits of a session and of the host. */
export interface RandomRun {
  readonly base: Tree;
  readonly session: Tree;
  readonly host: Tree;
  readonly next: (below: number) => number;
}

export function randomRuns(first: number, count: number): RandomRun[] {
  return Array.from({ length: count }, (_, at) => {
    const next = random(first + at);
    const base = randomTree(next);
    return { base, session: edited(base, next, 9), host: edited(base, next, 4), next };
  });
}

/** Trees as folders of one project: one apply costs little more for many of them than for one. */
export function together(trees: readonly Tree[]): Tree {
  const all = new Map<string, Node>();
  for (const [at, tree] of trees.entries()) {
    all.set(`t${at}`, { kind: 'dir', mode: 0o755 });
    for (const [name, node] of tree) all.set(`t${at}/${name}`, node);
  }
  return all;
}

/**
 * `count` random trees with random edits of a session and of the host, and a random choice: one apply, compared with the
 * model of each tree, then one undo, compared with before. Throws with the seeds.
 */
export async function propertyRun(first: number, count: number, root: string): Promise<{ applied: number }> {
  const runs = randomRuns(first, count);
  const [base, session, host] = (['base', 'session', 'host'] as const).map((side) =>
    together(runs.map((run) => run[side])),
  ) as [Tree, Tree, Tree];
  const project = path.join(root, `p${first}`);
  const sessionDir = path.join(root, 'state', 'sessions', `s${first}`);
  mkdirSync(project, { recursive: true });
  writeTree(project, host);
  const store = memoryStore();
  const changes = await changesBetween(base, session, store);
  const picked = changes.filter(({ path: name, kind, after }) => {
    const { next } = runs[Number(/^t([0-9]+)/.exec(name)?.[1])] as (typeof runs)[number];
    return next(5) > 0 || (kind === 'created' && after?.kind === 'dir');
  });
  const choice: Choice = {
    decided: true,
    discard: false,
    chosen: picked.map((change) => ({ change })),
    left: [],
    folders: [],
  };
  const common = { project, sessionDir, store, tell: () => undefined, dryRun: false };
  const times = readTimes(project, host);
  const asked = { ...common, choice, conflict: 'keep' as const, audit: () => [], acceptMerge: async () => true };
  const outcome = await applyChanges(asked);
  const chosen = (at: number): ReadonlySet<string> =>
    new Set(picked.flatMap(({ path: name }) => (name.startsWith(`t${at}/`) ? [name.slice(`t${at}/`.length)] : [])));
  const model = together(runs.map((run, at) => expectedHost(run.base, run.session, run.host, chosen(at))));
  const applied = outcome.changes.filter(({ verdict }) => verdict === 'applied').length;
  try {
    deepStrictEqual(sorted(readTree(project)), sorted(model));
    if (applied > 0) await undoApply(common);
    deepStrictEqual(sorted(readTree(project)), sorted(host));
    if (applied > 0) deepStrictEqual(readTimes(project, host), times);
  } catch (error) {
    throw new Error(`seeds from ${first}: ${(error as Error).message}`, { cause: error });
  }
  rmSync(project, { recursive: true });
  rmSync(sessionDir, { recursive: true, force: true });
  return { applied };
}
