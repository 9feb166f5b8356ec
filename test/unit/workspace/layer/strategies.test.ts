import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../../src/core/types/plan.ts';
import { STRATEGIES, STRATEGY_NAMES, type StrategyName } from '../../../../src/core/types/strategy.ts';
import { layerVolumes, plannedWorkspace } from '../../../../src/workspace/layer/strategies.ts';

const sources = path.join(import.meta.dirname, '../../../../src');
const FACTS = 'core/types/strategy.ts';
const BEHAVIOUR = 'workspace/layer/strategies.ts';

/** Files below src/ whose code names a strategy; mode, mount and parameter kinds with the same words are not strategies. */
function filesNaming(word: string): string[] {
  const isNamed = new RegExp(
    `(?:strategy|Strategy)[^\\n]*(['"\`])${word}\\1|\\b${word}Strategy\\b|^  ${word}: \\{ storage`,
    'm',
  );
  return (readdirSync(sources, { recursive: true }) as string[])
    .filter((file) => file.endsWith('.ts') && isNamed.test(readFileSync(path.join(sources, file), 'utf8')))
    .sort();
}

describe.each(STRATEGY_NAMES)('the strategy %s', (strategy) => {
  const plan = { sessionId: 's1', sessionDir: '/state/s1', baseDir: '/cache/b', strategy } as Plan;

  it('has a row of facts, and plans a mount on /workspace', () => {
    const keys = ['copiesProject', 'joinsGenerations', 'needsOverlayTrial', 'storage'];
    expect(Object.keys(STRATEGIES[strategy]).sort()).toEqual(keys);
    expect(plannedWorkspace(plan, strategy).mount).toMatchObject({ target: '/workspace', readonly: false });
  });

  it('keeps layers in volumes of the engine exactly where its facts say so', () => {
    expect(layerVolumes(strategy, 's1').length > 0).toBe(STRATEGIES[strategy].storage === 'engine');
  });

  it('is named in its own file and in the two tables only', () => {
    expect(filesNaming(strategy)).toEqual([`workspace/layer/${strategy}.ts`, BEHAVIOUR, FACTS].sort());
  });
});

it('a layer of a strategy that no longer exists has no volume', () => {
  expect(layerVolumes('overlay' as StrategyName, 's1')).toEqual([]);
});
