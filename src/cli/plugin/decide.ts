import { ownValue } from '../../core/text/own-value.ts';
import type { ToolInput } from './event.ts';
import { insideCommand } from './inside-command.ts';
import { matchingEntry } from './passthrough.ts';
import { COMMAND_TOOLS, HARMLESS_TOOLS, OWN_TOOLS, REFUSED_TOOLS, REPLACED_TOOLS } from './tools.ts';

/** One call of a tool by the model. */
export interface ToolCall {
  readonly tool: string;
  readonly input: ToolInput;
  /** Id of the conversation. */
  readonly conversation: string;
}

export interface CopiedPlace {
  readonly host: string;
  readonly inside: string;
}

/** What the decision depends on besides the call. */
export interface ToolFacts {
  /** Words that start run-claude here. */
  readonly runClaude: readonly string[];
  /** Directories of the host that are in the copy, each with its path there. */
  readonly places: readonly CopiedPlace[];
  /** The user's passthrough list. */
  readonly passthrough: readonly string[];
  /** Tools of other MCP servers that the user allows, by their whole names or with a `*` at the end. */
  readonly tools: readonly string[];
  /** The user is asked about the changes of a session: nothing goes on until the answer. */
  readonly question: string | undefined;
}

export type ToolDecision =
  /** Claude Code's own rules decide. */
  | { readonly kind: 'leave' }
  | { readonly kind: 'refuse'; readonly reason: string }
  /** The user is asked each time: it runs on the host. */
  | { readonly kind: 'ask'; readonly warning: string }
  /** The plugin's own tool, which acts in the copy. */
  | { readonly kind: 'own'; readonly input: ToolInput }
  /** It runs in the copy: with this input, once a session with this id is up. */
  | { readonly kind: 'inside'; readonly input: (session: string) => ToolInput };

/** What happens to a call. Whatever is not known is refused. */
export function decideTool({ tool, input, conversation }: ToolCall, facts: ToolFacts): ToolDecision {
  if (HARMLESS_TOOLS.has(tool)) return decideHarmless(tool, input);
  if (facts.tools.some((name) => isNamed(tool, name)) && !tool.startsWith(OWN_TOOLS)) return { kind: 'leave' };
  if (COMMAND_TOOLS.has(tool)) return decideCommand(input, conversation, facts);
  const own = ownValue(REPLACED_TOOLS, tool);
  if (own !== undefined) {
    const why = 'the project is worked on in a copy, in a container';
    return refuse(`${tool} acts on the user's own files, and ${why}. Use the tool ${OWN_TOOLS}${own} instead.`);
  }
  if (facts.question !== undefined) return refuse(facts.question);
  if (tool.startsWith(OWN_TOOLS)) return { kind: 'own', input: withPathsInside(input, facts.places) };
  const known = ownValue(REFUSED_TOOLS, tool);
  if (known !== undefined) return refuse(`${tool} is refused: ${known}.`);
  return refuse(
    `${tool} is refused: it acts outside the copy. The user may allow a tool of an MCP server by its name: tools in [plugin] of run-claude's config.toml.`,
  );
}

/** A worktree for an agent would be made by git on the host. */
function decideHarmless(tool: string, input: ToolInput): ToolDecision {
  if (input['isolation'] === undefined) return { kind: 'leave' };
  return refuse(`${tool} with isolation is refused: it makes a worktree on the user's machine. Leave isolation out.`);
}

function decideCommand(input: ToolInput, conversation: string, facts: ToolFacts): ToolDecision {
  const { command } = input;
  if (typeof command !== 'string') return refuse('Bash without a command is refused.');
  const entry = matchingEntry(command, facts.passthrough);
  if (entry !== undefined) {
    const warning = `run-claude: runs OUTSIDE the copy, on your machine, by the entry '${entry}' of your passthrough list`;
    return { kind: 'ask', warning };
  }
  if (facts.question !== undefined) return refuse(facts.question);
  if (input['run_in_background'] === true)
    return refuse(
      'A command in the background is refused: its output would be in a file that you cannot read. Start it with & and send its output to a file of the copy.',
    );
  if (command.includes('\0')) return refuse('A command with a NUL character is refused.');
  return {
    kind: 'inside',
    // The word that turns Claude Code's own sandbox off has no meaning here.
    input: (session) => {
      const { dangerouslyDisableSandbox: _off, ...rest } = input;
      return { ...rest, command: insideCommand(command, { session, conversation, runClaude: facts.runClaude }) };
    },
  };
}

/** The model knows the project by its path on the host: in the copy the same file has another one. */
function withPathsInside(input: ToolInput, places: readonly CopiedPlace[]): ToolInput {
  const mapped = Object.entries(input).map(([key, value]) =>
    (key === 'path' || key === 'cwd') && typeof value === 'string' ? [key, pathInside(value, places)] : [key, value],
  );
  return Object.fromEntries(mapped) as ToolInput;
}

function pathInside(named: string, places: readonly CopiedPlace[]): string {
  const place = places.find(({ host }) => named === host || named.startsWith(`${host}/`));
  return place === undefined ? named : place.inside + named.slice(place.host.length);
}

function isNamed(tool: string, name: string): boolean {
  if (!tool.startsWith('mcp__')) return false;
  return name.endsWith('*') ? name.startsWith('mcp__') && tool.startsWith(name.slice(0, -1)) : tool === name;
}

const refuse = (reason: string): ToolDecision => ({ kind: 'refuse', reason });
