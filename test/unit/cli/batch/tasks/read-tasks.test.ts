import { expect, it } from 'vitest';
import { readTasks } from '../../../../../src/cli/batch/tasks/read-tasks.ts';

const read = (text: string, cwd = '/work') => readTasks(text, { name: 'tasks.txt', cwd });

it('reads one prompt a line, and skips empty lines and comments', () => {
  const tasks = read('\ufeff# first\r\n\r\n  fix the tests \r\n#x\nadd docs\n');
  expect(tasks.map(({ line, prompt, project }) => [line, prompt, project])).toEqual([
    [3, 'fix the tests', '/work'],
    [5, 'add docs', '/work'],
  ]);
});

it('reads a JSON object with project, agent and limits, also next to plain lines', () => {
  const [plain, task] = read('a prompt\n{"prompt":"b","project":"../lib","agent":"codex","timeout":"30m","cpus":2}');
  expect(plain?.agent).toBeUndefined();
  expect(task).toMatchObject({ prompt: 'b', project: '/lib', agent: 'codex', limits: { timeout: '30m', cpus: '2' } });
});

it('gives a changed line another id, and an unchanged one the same id wherever it is', () => {
  const [first, second] = read('a\nb');
  const [moved, other] = read('# new\nb\na2');
  expect(moved?.id).toBe(second?.id);
  expect(other?.id).not.toBe(first?.id);
  expect(read('a', '/elsewhere')[0]?.id).not.toBe(first?.id);
  const [withLimit, inOtherOrder] = read('{"prompt":"a","cpus":1,"pids":9}\n{"pids":9,"cpus":1,"prompt":"a"}');
  expect(withLimit?.id).not.toBe(first?.id);
  expect(read('{"pids":9,"cpus":1,"prompt":"a"}')[0]?.id).toBe(withLimit?.id);
  // The second of two equal tasks.
  expect(inOtherOrder?.id).not.toBe(withLimit?.id);
});

it('takes a prompt of several lines and of a megabyte in JSON', () => {
  const prompt = `first\n${'x'.repeat(1 << 20)}`;
  expect(read(JSON.stringify({ prompt }))[0]?.prompt).toBe(prompt);
});

it.each([
  ['', 'has no task'],
  ['# only\n', 'has no task'],
  ['{"prompt":"a"', "line 1: it begins with '{'"],
  ['a\n{"prompt":"a",}', 'line 2:'],
  ['{"prompt":["a"]}', "'prompt' must be a text"],
  ['{"prompt":" "}', "'prompt' must be a text"],
  ['{"timeout":"2m"}', "'prompt' is missing"],
  ['{"prompt":"a","bind":"true"}', "'bind' is not a key"],
  ['{"prompt":"a","env":"X=1"}', "'env' is not a key"],
  ['{"prompt":"a","memory":true}', "'memory' must be a number or a text"],
  ['{"prompt":"a\\u0000b"}', "'prompt' must be a text"],
  ['a\0b', 'NUL'],
])('refuses %j', (text, message) => {
  expect(() => read(text)).toThrow(message);
});
