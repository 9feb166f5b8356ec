import { usageError } from '../core/errors.ts';
import type { AgentName } from '../core/types/agent/agent-package.ts';
import type { Agent } from './agent.ts';

/** Words that give an agent one prompt and ask for one answer, and what its standard input gets besides. */
export interface TaskWords {
  readonly words: readonly string[];
  readonly input: string;
}

interface PrintForm {
  /** The prompt among the words. */
  readonly asWord: (prompt: string) => readonly string[];
  /** The words that make it read the prompt from its standard input; undefined where it does not. */
  readonly asInput?: readonly string[];
}

const FORMS: Readonly<Record<AgentName, PrintForm>> = {
  claude: { asWord: (prompt) => ['-p', prompt], asInput: ['-p'] },
  codex: { asWord: (prompt) => ['exec', prompt], asInput: ['exec', '-'] },
  gemini: { asWord: (prompt) => [`--prompt=${prompt}`] },
  opencode: { asWord: (prompt) => ['run', prompt] },
  copilot: { asWord: (prompt) => [`--prompt=${prompt}`] },
};

/** Linux takes words of less than 128 KiB (MAX_ARG_STRLEN). The rest is for the option's name. */
const MAX_WORD_BYTES = 120 * 1024;

/**
 * The words of an agent for a task. A long prompt, and one that would be read as an option, goes to its standard input.
 * `more`: words of the user's for the agent.
 *
 * @throws {RunClaudeError} USAGE for a prompt that this agent cannot be given
 */
export function taskWords(agent: Agent, prompt: string, more: readonly string[]): TaskWords {
  if (agent.own?.print.length === 0)
    throw usageError(
      `run-claude does not know how ${agent.title} takes one prompt and ends`,
      `Set print in [agents.${agent.name}] of your configuration.`,
    );
  const form = agent.own === undefined ? FORMS[agent.name] : ownForm(agent.own.print);
  const isLong = Buffer.byteLength(prompt) > MAX_WORD_BYTES;
  const isOption = prompt.startsWith('-') && form.asWord('').length > 1;
  if (!isLong && !isOption) return { words: [...form.asWord(prompt), ...more], input: '' };
  if (form.asInput !== undefined) return { words: [...form.asInput, ...more], input: prompt };
  const why = isLong ? `is longer than ${MAX_WORD_BYTES / 1024} KB` : "begins with '-'";
  throw usageError(
    `the prompt ${why}, which ${agent.title} cannot be given`,
    'Write it to a file of the project and name that file in the prompt.',
  );
}

/** Any one of its words asks for one answer. */
const ownForm = (print: readonly string[]): PrintForm => ({ asWord: (prompt) => [...print.slice(0, 1), prompt] });
