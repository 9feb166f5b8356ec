import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { StrategyName } from '../../../../src/core/types/strategy.ts';
import { type Engines, openEngines, type Where } from '../../../support/workspace/engines.ts';
import { expectAllListed } from '../../../support/workspace/random-sessions.ts';
import { type WorkspaceScene, workspaceScene } from '../../../support/workspace-scene.ts';

const TREES = process.env['RUN_CLAUDE_THOROUGH'] === '1' ? 4000 : 500;

let engines: Engines;
let scene: WorkspaceScene;

beforeAll(async () => {
  engines = await openEngines();
});
afterAll(() => engines.close());
afterEach(() => scene.remove());

it.each<[StrategyName, Where]>([
  ['layers', 'here'],
  ['copy', 'here'],
  ['volume', 'here'],
  ['volume', 'tcp'],
  ['volume', 'ssh'],
])(
  'by %s on an engine that is %s: the list of changes is complete and exact for many random trees',
  async (strategy, where) => {
    scene = workspaceScene(engines.at(where), engines.image);
    await expectAllListed(scene, strategy, engines.image, `test-${process.pid}-${strategy}-${where}`, TREES);
    expect(engines.watched.refused).toEqual([]);
  },
);
