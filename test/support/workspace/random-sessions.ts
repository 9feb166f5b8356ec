import { execFileSync } from 'node:child_process';
import path from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { StrategyName } from '../../../src/core/types/strategy.ts';
import { repeatHint, seed } from '../seed.ts';
import { takeOut, type WorkspaceScene } from '../workspace-scene.ts';
import { changeLines, compareFully } from './compare-fully.ts';
import { aCase, stepsProgram } from './random-edits.ts';

/** Many random trees and a session over all of them: what is listed, a full comparison that shares nothing with it finds. */
export async function expectAllListed(
  scene: WorkspaceScene,
  strategy: StrategyName,
  image: string,
  id: string,
  trees: number,
): Promise<void> {
  const cases = fc.sample(aCase, { numRuns: trees, seed });
  execFileSync('python3', ['-'], { cwd: scene.project, input: stepsProgram(cases.map(({ tree }) => tree)) });
  const workspace = await scene.open(id, strategy);
  const edits = stepsProgram(cases.map(({ edits: list }) => list));
  expect(await scene.inside(id, workspace, `python3 - <<'EOF'\n${edits}EOF\n`), repeatHint).toBe('');
  const { changes, problems } = await workspace.collect();
  const merged = path.join(scene.dir, 'merged');
  takeOut(image, workspace, merged);
  expect(changeLines(changes), repeatHint).toEqual(compareFully(scene.project, merged));
  expect(changes.length).toBeGreaterThan(2 * trees);
  expect(problems).toEqual([]);
  await workspace.close({ keepLayer: false });
}
