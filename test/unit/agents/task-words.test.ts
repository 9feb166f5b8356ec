import { expect, it } from 'vitest';
import { agentNamed, agentProgram } from '../../../src/agents/agents.ts';
import { taskWords } from '../../../src/agents/task-words.ts';
import { AGENT_NAMES } from '../../../src/core/types/agent/agent-package.ts';

const named = (name: string) => agentNamed(name) as NonNullable<ReturnType<typeof agentNamed>>;

it.each(AGENT_NAMES)('%s takes a prompt as words that ask for one answer', (name) => {
  const agent = named(name);
  const { words, input } = taskWords(agent, 'fix the tests', []);
  expect(words.join(' ')).toContain('fix the tests');
  expect(input).toBe('');
  expect(agentProgram(agent, [], words).print).toBe(true);
});

it.each(['claude', 'codex'])('%s reads a long prompt, and one that begins with a dash, from its input', (name) => {
  for (const prompt of ['é'.repeat(80_000), '--dangerously-x']) {
    const { words, input } = taskWords(named(name), prompt, ['--model', 'm']);
    expect(input).toBe(prompt);
    expect(words.join(' ')).not.toContain(prompt);
    expect(words.slice(-2)).toEqual(['--model', 'm']);
    expect(agentProgram(named(name), [], words).print).toBe(true);
  }
});

it('refuses a long prompt for an agent that reads no input', () => {
  for (const name of ['gemini', 'opencode', 'copilot'])
    expect(() => taskWords(named(name), 'x'.repeat(130_000), [])).toThrow('is longer than 120 KB');
  expect(() => taskWords(named('opencode'), '--port', [])).toThrow("begins with '-'");
  expect(taskWords(named('gemini'), '--yolo', []).words).toEqual(['--prompt=--yolo']);
});

it('refuses an agent of the configuration that has no words for one answer', () => {
  const agent = named('claude');
  const own = { name: 'mine', print: [] } as unknown as NonNullable<typeof agent.own>;
  expect(() => taskWords({ ...agent, own }, 'fix the tests', [])).toThrow('takes one prompt and ends');
  expect(taskWords({ ...agent, own: { ...own, print: ['-p'] } }, 'fix', []).words).toEqual(['-p', 'fix']);
});
