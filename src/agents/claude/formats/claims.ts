import { asObject, type JsonObject, parseObject } from '../../../core/text/json-in.ts';
import type { Claim } from '../../../core/types/log-event.ts';

/** Of a prompt or of what a tool was given. */
const MAX_CHARACTERS = 300;
/** The part of a tool's input that says most, by the names of Claude's tools. */
const TOOL_INPUTS = ['command', 'file_path', 'pattern', 'url', 'query', 'description', 'prompt'] as const;

/** What a line of a transcript says of the conversation: prompts of the user and calls of tools. */
export function claimsOfLine(line: string): readonly Claim[] {
  const record = parseObject(line);
  const at = timeOf(record?.['timestamp']);
  const message = asObject(record?.['message']);
  if (record === undefined || at === undefined || message === undefined || record['isMeta'] === true) return [];
  const { content } = message;
  if (record['type'] === 'user') return promptsOf(content).map((text) => ({ at, kind: 'prompt', text }));
  if (record['type'] !== 'assistant' || !Array.isArray(content)) return [];
  return content.flatMap((block): Claim[] => {
    const call = asObject(block);
    return call?.['type'] === 'tool_use' ? [{ at, kind: 'tool', text: callText(call) }] : [];
  });
}

function promptsOf(content: unknown): string[] {
  if (typeof content === 'string') return [cut(content)];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block) => {
    const { type, text } = asObject(block) ?? {};
    return type === 'text' && typeof text === 'string' ? [cut(text)] : [];
  });
}

function callText({ name, input }: JsonObject): string {
  const given = asObject(input) ?? {};
  const key = TOOL_INPUTS.find((one) => typeof given[one] === 'string');
  const tool = typeof name === 'string' ? name : 'unnamed';
  return cut(key === undefined ? tool : `${tool}: ${String(given[key])}`);
}

const cut = (text: string): string => (text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text);

function timeOf(value: unknown): string | undefined {
  const time = typeof value === 'string' && value.length < 50 ? new Date(value) : undefined;
  return time === undefined || Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
