import { expect, it } from 'vitest';
import type { TestCommand } from '../../../../src/core/types/test.ts';
import { failedTestLines, testLines } from '../../../../src/session/tests/test-lines.ts';
import { type CommandRun, havePassed, needsBase, notRun, verdictOn } from '../../../../src/session/tests/verdict.ts';

const test: TestCommand = { name: 'unit', command: 'npm test', timeoutMs: 90_000, needsNetwork: false };
const run = (parts: Partial<CommandRun>): CommandRun => ({ ms: 2000, status: 0, lines: ['last'], ...parts });
const STOPPED = run({ status: undefined, stopped: 'time' });

it.each<[string, CommandRun, CommandRun | string | undefined, string]>([
  ['passes', run({}), undefined, 'unit: passed (2 s)'],
  ['is new', run({ status: 1 }), run({}), "unit: failed, and passes without the session's changes (2 s)"],
  ['is old', run({ status: 1 }), run({ status: 2 }), "unit: failed, as it does without the session's changes (2 s)"],
  [
    'has no base',
    run({ status: 1 }),
    'no room',
    'unit: failed (2 s): not compared with the project as it was: no room',
  ],
  [
    'has a base that hangs',
    run({ status: 1 }),
    STOPPED,
    "unit: failed (2 s): without the session's changes it did not end",
  ],
  ['takes too long', STOPPED, undefined, 'unit: timed out (2 s): stopped after 1 min 30 s'],
  [
    'fills the disk',
    run({ status: undefined, stopped: 'disk' }),
    undefined,
    "unit: failed (2 s): stopped: it filled more than the session's limit for the disk",
  ],
])('says of a test that %s what became of it', (_title, result, base, line) => {
  const verdict = verdictOn(test, result, base, []);
  expect(testLines([verdict])[0]).toBe(`Test ${line}`);
  expect(havePassed([verdict])).toBe(result.status === 0);
  expect(failedTestLines([verdict])).toHaveLength(result.status === 0 ? 0 : 1);
});

it('asks for the project as it was only where a test ended by itself and failed', () => {
  expect([run({}), run({ status: 3 }), STOPPED].map(needsBase)).toEqual([false, true, false]);
});

it('has not passed where a test did not run, or none was run', () => {
  const passed = verdictOn(test, run({}), undefined, []);
  expect(havePassed([passed, notRun(test, 'interrupted', [])])).toBe(false);
  expect(havePassed(undefined)).toBe(false);
  expect(havePassed([passed])).toBe(true);
});

it('shows the last lines of a failure only, and what the session changed of any test', () => {
  const changed = ['test/a.js (deleted)', 'package.json'];
  const said = '  The session changed what this test runs: test/a.js (deleted), package.json';
  expect(testLines([verdictOn(test, run({}), undefined, changed)]).slice(1)).toEqual([said]);
  expect(testLines([verdictOn(test, run({ status: 1 }), run({}), changed)]).slice(1)).toEqual(['    last', said]);
});
