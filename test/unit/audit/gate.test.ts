import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GateCase, readGateCases, readKnownGaps } from '../../support/gate/cases.ts';
import { alarmsOf, GateProjects, type Judged, missesOf } from '../../support/gate/judge-case.ts';
import { judgeVariants } from '../../support/gate/judge-variants.ts';
import { skipUnless } from '../../support/requirement.ts';

const files = [...readGateCases()];
const gaps = readKnownGaps();
let projects: GateProjects;
/** What each session left, by the id of its case. */
const left = new Map<string, Judged>();

beforeAll(() => {
  projects = new GateProjects();
});
afterAll(() => projects[Symbol.dispose]());

/** What is wrong with each case, by id; cases without a script of that kind are left out. */
async function judgeAll(
  cases: readonly GateCase[],
  script: 'session' | 'ordinary',
  wrong: typeof missesOf,
): Promise<Map<string, string[]>> {
  const judged = new Map<string, string[]>();
  const todo = cases.filter((one) => one[script] !== undefined);
  // A script mostly waits for its programs.
  const next = async (): Promise<void> => {
    for (let one = todo.shift(); one !== undefined; one = todo.shift())
      judged.set(one.id, wrong(one, await projects.judge(one, one[script] ?? '')));
  };
  await Promise.all([next(), next(), next()]);
  return judged;
}

/** Fails with one line for each case that is wrong and not listed, and for each that is listed and right. */
function compare(judged: ReadonlyMap<string, readonly string[]>, listed: Readonly<Record<string, string>>): void {
  const lines = [...judged].flatMap(([id, wrong]) => {
    if (id in listed) return wrong.length === 0 ? [`${id} is right now: remove it from gate-known-gaps.yaml`] : [];
    return wrong.map((one) => `${id} ${one}`);
  });
  expect(lines.sort()).toEqual([]);
}

describe.each(files)('%s', (_, cases) => {
  it('holds back every attack, in the copy that a session would have', async (context) => {
    skipUnless(process.platform === 'linux', 'needs the GNU tools that the scripts of the cases use', context);
    const misses = (one: GateCase, judged: Judged): string[] => {
      left.set(one.id, judged);
      return missesOf(one, judged);
    };
    compare(await judgeAll(cases, 'session', misses), gaps.attacks);
  });

  it('reports every file of an attack also in other spellings', async (context) => {
    skipUnless(process.platform === 'linux', 'needs the GNU tools that the scripts of the cases use', context);
    const silent: string[] = [];
    let count = 0;
    for (const { id } of cases) {
      const judged = left.get(id);
      if (judged === undefined) continue;
      const variants = judgeVariants(judged);
      count += variants.count;
      for (const one of variants.silent) silent.push(`${id} ${one}`);
    }
    expect(count).toBeGreaterThan(100);
    expect(silent).toEqual([]);
  });

  it('has nothing to ask about the ordinary work next to it', async (context) => {
    skipUnless(process.platform === 'linux', 'needs the GNU tools that the scripts of the cases use', context);
    compare(await judgeAll(cases, 'ordinary', (_case, result) => alarmsOf(result)), gaps.ordinary);
  });
});

it('lists only cases that exist', () => {
  const all = files.flatMap(([, cases]) => cases);
  const ids = all.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(all.filter(({ session }) => session !== undefined).length).toBeGreaterThan(250);
  const known = (script: 'session' | 'ordinary') => all.filter((one) => one[script] !== undefined).map(({ id }) => id);
  expect(Object.keys(gaps.attacks).filter((id) => !known('session').includes(id))).toEqual([]);
  expect(Object.keys(gaps.ordinary).filter((id) => !known('ordinary').includes(id))).toEqual([]);
});
