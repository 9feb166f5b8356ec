import { deepStrictEqual } from 'node:assert';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { applyChanges } from '../../src/apply/apply-changes.ts';
import { undoApply } from '../../src/apply/undo.ts';
import type { Choice } from '../../src/types/review.ts';
import { expectedHost } from './model.ts';
import { edited, random, randomTree } from './random-tree.ts';
import { changesBetween, memoryStore, readTimes, readTree, writeTree } from './tree.ts';

const sorted = (tree: ReadonlyMap<string, unknown>): unknown[] => [...tree].sort(([a], [b]) => (a < b ? -1 : 1));

/** One random run: apply, compared with the model, then undo, compared with before. Throws with the seed. */
export async function propertyRun(seed: number, root: string): Promise<{ applied: number }> {
  const next = random(seed);
  const base = randomTree(next);
  const [session, host] = [edited(base, next), edited(base, next)];
  const project = path.join(root, `p${seed}`);
  const sessionDir = path.join(root, 'state', 'sessions', `s${seed}`);
  mkdirSync(project, { recursive: true });
  writeTree(project, host);
  const store = memoryStore();
  const changes = await changesBetween(base, session, store);
  const picked = changes.filter((change) => next(5) > 0 || (change.kind === 'created' && change.after?.kind === 'dir'));
  const choice: Choice = {
    decided: true,
    discard: false,
    chosen: picked.map((change) => ({ change })),
    left: [],
    folders: [],
  };
  const common = { project, sessionDir, store, tell: () => undefined, dryRun: false };
  const times = readTimes(project, host);
  const outcome = await applyChanges({
    ...common,
    choice,
    conflict: 'keep',
    audit: () => [],
    acceptMerge: async () => true,
  });
  const model = expectedHost(base, session, host, new Set(picked.map((change) => change.path as string)));
  const applied = outcome.changes.filter(({ verdict }) => verdict === 'applied').length;
  try {
    deepStrictEqual(sorted(readTree(project)), sorted(model));
    if (applied > 0) await undoApply(common);
    deepStrictEqual(sorted(readTree(project)), sorted(host));
    if (applied > 0) deepStrictEqual(readTimes(project, host), times);
  } catch (error) {
    const facts = JSON.stringify(
      { seed, base: [...base], session: [...session], host: [...host], picked: picked.map((c) => c.path), outcome },
      undefined,
      1,
    );
    throw new Error(`${facts}\n${(error as Error).message}`, { cause: error });
  }
  rmSync(project, { recursive: true });
  rmSync(sessionDir, { recursive: true, force: true });
  return { applied };
}
