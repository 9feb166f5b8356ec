import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { Plan } from '../../../../src/core/types/plan.ts';
import type { Runtime } from '../../../../src/core/types/runtime.ts';
import { keptBase } from '../../../../src/rehearsal/run/kept-base.ts';
import { hasRoomForTwo } from '../../../../src/rehearsal/run/rehearse.ts';
import { sessionRecord } from '../../../support/session-record.ts';
import { NPM_TEST, observed } from '../facts/recorded.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-kept-base-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const SCENES = [{ name: 'npm test', files: [], tools: ['npm'], limitMs: 1000 }];
const RUN = { scenes: [observed(NPM_TEST)] };

/** A base whose list of entries is `manifest`, as a plan and a workspace's record name it. */
function lay(name: string, manifest: string, image = 'image'): { readonly plan: Plan; readonly workspace: unknown } {
  const baseDir = path.join(root, name);
  const generation = path.join(baseDir, 'gen', '1');
  mkdirSync(path.join(generation, 'tree'), { recursive: true });
  writeFileSync(path.join(generation, 'manifest'), manifest);
  return {
    plan: { ...sessionRecord({}).plan, baseDir, image },
    workspace: {
      version: 1,
      strategy: 'layers',
      generation,
      entries: 1,
      rules: { exclude: [], include: [], mask: [] },
    },
  };
}

const kept = ({ plan, workspace }: ReturnType<typeof lay>, scenes = SCENES, env = {}) =>
  keptBase(plan, workspace, scenes, env);

it('gives the runs back for the same base, image, commands, limits and variables, and for no other', () => {
  kept(lay('same', 'one')).keep([RUN, RUN]);
  expect(kept(lay('same', 'one')).read()).toEqual([RUN, RUN]);
  expect(kept(lay('same', 'two')).read()).toEqual([]);
  expect(kept(lay('same', 'one', 'other')).read()).toEqual([]);
  expect(kept(lay('same', 'one'), [{ ...SCENES[0], limitMs: 9 } as (typeof SCENES)[0]]).read()).toEqual([]);
  expect(kept(lay('same', 'one'), SCENES, { CI: '1' }).read()).toEqual([]);
});

it('keeps no run that was cut short, and reads nothing from a damaged file', () => {
  for (const end of [{ k: 'broken', why: 'time' }, { k: 'unbudgeted' }])
    kept(lay('short', 'one')).keep([{ scenes: [observed([], end)] }]);
  expect(kept(lay('short', 'one')).read()).toEqual([]);
  const place = lay('damaged', 'one');
  kept(place).keep([RUN]);
  const dir = path.join(root, 'damaged', 'rehearsals');
  for (const name of readdirSync(dir)) writeFileSync(path.join(dir, name), '{"runs":');
  expect(kept(place).read()).toEqual([]);
});

it('keeps four at most', () => {
  for (let at = 0; at < 7; at += 1) kept(lay('many', `${at}`)).keep([RUN]);
  expect(readdirSync(path.join(root, 'many', 'rehearsals'))).toHaveLength(4);
});

it('runs both sides at once only where the machine has the memory and the processors', () => {
  const plan = sessionRecord({ plan: { policy: { memoryMb: 1024 } } }).plan;
  const fits = (facts: object) => hasRoomForTwo({ plan, engine: { facts } as Runtime });
  expect(fits({ processors: 2, memoryMb: 2048 })).toBe(true);
  expect(fits({ processors: 1, memoryMb: 2048 })).toBe(false);
  expect(fits({ processors: 2, memoryMb: 2047 })).toBe(false);
  expect(fits({})).toBe(false);
});
