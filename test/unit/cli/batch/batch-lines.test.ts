import { expect, it } from 'vitest';
import {
  boardLines,
  endedLine,
  promptText,
  type ShownTask,
  summaryLines,
  verdictText,
} from '../../../../src/cli/batch/batch-lines.ts';
import type { TaskRecord } from '../../../../src/cli/batch/tasks/task.ts';
import { widthOf } from '../../../../src/terminal/columns/width.ts';

const record = (more: Partial<TaskRecord>): TaskRecord => ({
  version: 1,
  id: 'i',
  started: 's',
  result: 'done',
  status: 120,
  session: '261123-140512-k7p',
  ms: 80_000,
  ...more,
});
const HOSTILE = 'fix \u001b[2J\u202e the tests\nand 日本語 '.repeat(30);

const TASKS: readonly ShownTask[] = [
  {
    line: 1,
    prompt: 'add docs',
    project: undefined,
    record: record({}),
    facts: { verdict: 'pending', files: 3, costUsd: 0.024 },
  },
  {
    line: 12,
    prompt: HOSTILE,
    project: '/p\u001b[2J',
    record: record({ result: 'failed', status: 125, error: 'the gateway \u001b[2Jdid not start\nsecond line' }),
    facts: undefined,
  },
  { line: 13, prompt: 'b', project: undefined, record: undefined, facts: undefined },
  {
    line: 14,
    prompt: 'c',
    project: undefined,
    record: record({ result: 'interrupted', status: 130, ms: 400 }),
    facts: { verdict: 'pending, 1 suspect', files: 1 },
  },
];

it('shows a table of 80 columns, cleaned', () => {
  const lines = summaryLines(TASKS, 80);
  expect(lines.filter((line) => widthOf(line) > 80)).toEqual([]);
  expect(lines.join('\n')).not.toMatch(/[\u001b\u202e]/);
  expect(lines.slice(0, 5)).toEqual([
    'line  verdict                       files   cost  time        session',
    '   1  pending                           3  $0.02  1 min 20 s  261123-140512-k7p',
    '      add docs',
    '  12  failed: the gateway \\x1b[2J…                1 min 20 s  261123-140512-k7p',
    expect.stringMatching(/^ {6}\/p\\x1b\[2J: fix \\x1b\[2J\\u202e the tests and 日本語 fix .*…$/),
  ]);
  expect(lines[5]).toBe('      failed: the gateway \\x1b[2Jdid not start');
  expect(lines.slice(6)).toEqual([
    '  13  not started',
    '      b',
    '  14  interrupted, pending, 1 sus…      1         under 1 s   261123-140512-k7p',
    '      c',
    '      interrupted, pending, 1 suspect',
  ]);
});

it('shows one line for an ended task, cut to the window', () => {
  const [first, second] = TASKS as [ShownTask, ShownTask];
  expect(endedLine(first, 200)).toBe(
    'Task 1: pending, 3 files, $0.02, 1 min 20 s, session 261123-140512-k7p: add docs',
  );
  expect(widthOf(endedLine(second, 70))).toBeLessThanOrEqual(70);
  expect(endedLine(second, Number.POSITIVE_INFINITY).length).toBeLessThan(400);
  // The id is never cut: the verdict is.
  for (const task of TASKS.slice(0, 2))
    for (const columns of [70, 76, 100]) expect(endedLine(task, columns)).toContain('session 261123-140512-k7p');
});

it('says which limit a task reached', () => {
  const why = 'its time limit is reached';
  const limited = { record: record({ result: 'failed', status: 124, error: why }), facts: { verdict: 'pending' } };
  expect(verdictText(limited)).toBe(`failed: ${why}, pending`);
  expect(verdictText({ record: record({ result: 'failed', status: 124 }), facts: undefined })).toBe(
    'failed: a limit is reached',
  );
});

it('shows the tasks that run below the counts of the batch', () => {
  const running = TASKS.slice(0, 2).map((task) => ({ ...task, running: { phase: 'working\u001b[2J', ms: 3000 } }));
  expect(boardLines(running, { total: 50, ended: 12, failed: 1, costUsd: 1.2 }, 79)).toEqual([
    '[sandbox] 12 of 50 tasks ended, 2 running, 1 failed, $1.20',
    '   1  3 s  working\\x1b[2J  add docs',
    expect.stringMatching(/^ {2}12 {2}3 s {2}working\\x1b\[2J {2}fix \\x1b\[2J.*…$/),
  ]);
});

it('cleans only the beginning of a long prompt', () => {
  const before = performance.now();
  expect(promptText('日'.repeat(5_000_000), Number.POSITIVE_INFINITY)).toHaveLength(50);
  expect(performance.now() - before).toBeLessThan(500);
});

it('cleans what a damaged record says', () => {
  const damaged = {
    line: 1,
    prompt: 'a',
    project: undefined,
    record: record({ session: 'x\u001b[2J' }),
    facts: { verdict: 'pending\u001b[2J' },
  };
  expect([...summaryLines([damaged], 80), endedLine(damaged, 80)].join('\n')).not.toContain('\u001b');
});
