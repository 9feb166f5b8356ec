import { parseObject } from '../../core/text/json-in.ts';
/** What Claude Code hands to a hook, as far as the plugin reads it. */
export type HookEvent =
  /** `conversation`: with the subagent's id where a subagent makes the call. */
  | { readonly kind: 'tool'; readonly conversation: string; readonly tool: string; readonly input: ToolInput }
  | { readonly kind: 'prompt'; readonly conversation: string; readonly prompt: string }
  | { readonly kind: 'start'; readonly conversation: string };

export type ToolInput = Readonly<Record<string, unknown>>;

/** The event in a hook's standard input; undefined for a text that is none of those that the plugin has a hook for. */
export function readEvent(text: string): HookEvent | undefined {
  const event = parseObject(text);
  if (event === undefined) return undefined;
  const {
    hook_event_name: name,
    session_id: conversation,
    tool_name: tool,
    tool_input: input,
    prompt,
    agent_id: agent,
  } = event;
  if (typeof conversation !== 'string') return undefined;
  if (name === 'SessionStart') return { kind: 'start', conversation };
  if (name === 'UserPromptSubmit' && typeof prompt === 'string') return { kind: 'prompt', conversation, prompt };
  if (name === 'PreToolUse' && typeof tool === 'string' && isObject(input))
    return {
      kind: 'tool',
      conversation: typeof agent === 'string' ? `${conversation} ${agent}` : conversation,
      tool,
      input,
    };
  return undefined;
}

const isObject = (value: unknown): value is ToolInput =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
