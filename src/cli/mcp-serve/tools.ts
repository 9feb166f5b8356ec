import { z } from 'zod';
import type { Box, RunOutcome } from '../../session/kept/box.ts';
import { MAX_TEXT_FILE_BYTES, type TextResult } from '../../session/kept/requests.ts';
import { cleanLine, cleanText } from '../../terminal/clean.ts';
import { type Tool, type ToolAnswer, tool } from './tool.ts';

/** What a client's model reads of one answer. */
export const MAX_ANSWER_CHARACTERS = 30_000;

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 3_600_000;
/** Of names and patterns. */
const MAX_WORD = 4096;
const MAX_LISTED_CHANGES = 500;

const path = z.string().min(1).max(MAX_WORD);
const pathInside = path.describe('Path in the environment, absolute or relative to /workspace');

/** The tools of `mcp serve`, one row each. None of them applies anything to the project. */
export const TOOLS: readonly Tool[] = [
  tool({
    name: 'open',
    description:
      'Open the environment: a hardened container with a copy of the project in /workspace. The other tools open it by themselves. Nothing in it changes the project until the user has reviewed it.',
    input: z.strictObject({}),
    isReadOnly: true,
    run: async (_input, { box }) => ({ text: describeBox(await box()) }),
  }),
  tool({
    name: 'bash',
    description:
      'Run a bash command in the environment. Files stay from one call to the next; the directory and variables do not. Only hosts that the user allowed can be reached.',
    input: z.strictObject({
      command: z.string().min(1).max(MAX_TEXT_FILE_BYTES),
      cwd: pathInside.optional(),
      timeout_ms: z.int().min(1).max(MAX_TIMEOUT_MS).default(DEFAULT_TIMEOUT_MS),
    }),
    isReadOnly: false,
    run: async ({ command, cwd, timeout_ms: timeoutMs }, { box, signal }) =>
      outcomeText(await (await box()).run(['/bin/bash', '-c', command], { cwd, timeoutMs, signal }), timeoutMs),
  }),
  tool({
    name: 'read',
    description: 'Read a text file of the environment, with line numbers.',
    input: z.strictObject({
      path: pathInside,
      offset: z.int().min(1).optional().describe('First line, counted from 1'),
      limit: z.int().min(1).optional().describe('Number of lines'),
    }),
    isReadOnly: true,
    run: async (input, { box, signal }) =>
      resultText(await (await box()).ask({ kind: 'read', ...input }, signal), '(empty)'),
  }),
  tool({
    name: 'write',
    description: 'Write a file of the environment, and make its directories.',
    input: z.strictObject({ path: pathInside, content: z.string().max(MAX_TEXT_FILE_BYTES) }),
    isReadOnly: false,
    run: async (input, { box, signal }) => resultText(await (await box()).ask({ kind: 'write', ...input }, signal)),
  }),
  tool({
    name: 'edit',
    description: 'Replace text in a file of the environment. The text must be in it exactly once, unless all is true.',
    input: z.strictObject({
      path: pathInside,
      before: z.string().min(1).max(MAX_TEXT_FILE_BYTES),
      after: z.string().max(MAX_TEXT_FILE_BYTES),
      all: z.boolean().optional(),
    }),
    isReadOnly: false,
    run: async (input, { box, signal }) => resultText(await (await box()).ask({ kind: 'edit', ...input }, signal)),
  }),
  tool({
    name: 'glob',
    description: 'List files of the environment that match a glob pattern such as src/**/*.ts.',
    input: z.strictObject({ pattern: path, path: pathInside.optional() }),
    isReadOnly: true,
    run: async (input, { box, signal }) =>
      namesText(await (await box()).ask({ kind: 'glob', ...input }, signal), 'no file matches'),
  }),
  tool({
    name: 'grep',
    description: 'Search file contents of the environment for a regular expression.',
    input: z.strictObject({
      pattern: path,
      path: pathInside.optional(),
      glob: path.optional().describe('Only in files whose names match'),
      ignore_case: z.boolean().optional(),
      files_only: z.boolean().optional(),
    }),
    isReadOnly: true,
    run: async ({ ignore_case: ignoreCase, files_only: filesOnly, ...input }, { box, signal }) =>
      resultText(await (await box()).ask({ kind: 'grep', ...input, ignoreCase, filesOnly }, signal), 'no line matches'),
  }),
  tool({
    name: 'diff',
    description: 'Show how the environment differs from the project as it was when the environment was opened.',
    input: z.strictObject({ path: path.optional().describe('A file or directory, relative to /workspace') }),
    isReadOnly: true,
    run: async ({ path: below }, { box }) => {
      const isWanted = below === undefined ? undefined : isBelow(below);
      return resultText(await (await box()).diff(isWanted), 'no changes');
    },
  }),
  tool({
    name: 'status',
    description: 'List what was changed in the environment so far.',
    input: z.strictObject({}),
    isReadOnly: true,
    run: async (_input, { box }) => statusText(await box()),
  }),
  tool({
    name: 'propose',
    description:
      'Ask the user to review the changes. It applies nothing: the user decides, on the command line, which changes reach the project.',
    input: z.strictObject({ summary: z.string().min(1).max(2000).describe('What was changed, and why') }),
    isReadOnly: false,
    async run({ summary }, { box }) {
      const opened = await box();
      opened.propose(summary);
      const { id } = opened.record;
      return {
        text: `The request for a review of session ${id} is recorded, in place of an earlier one. Nothing is applied. The user reviews and applies the changes with: run-claude down ${id}`,
      };
    },
  }),
];

function describeBox({ record: { id, project, plan } }: Box): string {
  return [
    `session ${id}`,
    `project ${project}: a copy of it is in /workspace`,
    `network ${plan.policy.network}`,
    `The user reviews and applies the changes with: run-claude down ${id}`,
  ].join('\n');
}

function outcomeText(outcome: RunOutcome, timeoutMs: number): ToolAnswer {
  const { status, timedOut, stdout, stderr, droppedBytes } = outcome;
  const parts = [
    amountCut(cleanText(stdout.toString('utf8').trimEnd()), MAX_ANSWER_CHARACTERS),
    amountCut(cleanText(stderr.toString('utf8').trimEnd()), MAX_ANSWER_CHARACTERS),
    droppedBytes > 0 ? `[${droppedBytes} bytes of output were dropped]` : '',
    timedOut ? `[ended after ${timeoutMs} ms]` : `[exit status ${status}]`,
  ];
  return { text: parts.filter((part) => part !== '').join('\n'), ...(timedOut ? { isError: true } : {}) };
}

function resultText({ text, isCut }: TextResult, whenEmpty = ''): ToolAnswer {
  const shown = text === '' ? whenEmpty : amountCut(cleanText(text), MAX_ANSWER_CHARACTERS);
  return { text: isCut ? `${shown}\n[there is more]` : shown };
}

function namesText({ text, isCut }: TextResult, whenEmpty: string): ToolAnswer {
  return resultText({ text: text.split('\n').map(cleanLine).join('\n'), isCut }, whenEmpty);
}

async function statusText(box: Box): Promise<ToolAnswer> {
  const { changes, ignored } = await box.changes();
  const listed = changes.slice(0, MAX_LISTED_CHANGES).map(({ kind, path: name }) => `${kind} ${cleanLine(name)}`);
  const more = changes.length > listed.length ? [`[${changes.length - listed.length} more changes]`] : [];
  const groups = ignored.map(({ directory, entries }) => `ignored ${cleanLine(directory)} (${entries} entries)`);
  const lines = [`session ${box.record.id}, ${changes.length} changes so far`, ...listed, ...more, ...groups];
  return { text: amountCut(lines.join('\n'), MAX_ANSWER_CHARACTERS) };
}

function isBelow(named: string): (path: string) => boolean {
  const below = named.replace(/^\/workspace\/?/, '').replace(/^\.\/|\/$/g, '');
  return (name) => below === '' || below === '.' || name === below || name.startsWith(`${below}/`);
}

/** The text with its middle left out, and how much of it, where it is longer than `max` characters. */
function amountCut(text: string, max: number): string {
  if (text.length <= max) return text;
  const half = Math.floor(max / 2);
  return `${text.slice(0, half)}\n[${text.length - 2 * half} characters left out]\n${text.slice(text.length - half)}`;
}
