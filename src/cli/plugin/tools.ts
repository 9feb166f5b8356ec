/** Name of the plugin, and of its only MCP server, as its files have them. */
export const PLUGIN_NAME = 'boxed';
const SERVER_NAME = 'copy';

/** How Claude Code names the tools of the plugin's server. */
export const OWN_TOOLS = `mcp__plugin_${PLUGIN_NAME}_${SERVER_NAME}__`;

/** Claude Code's tools that act on files, and the plugin's tool for the same in the copy. */
export const REPLACED_TOOLS: Readonly<Record<string, string>> = {
  Read: 'read',
  Write: 'write',
  Edit: 'edit',
  MultiEdit: 'edit',
  NotebookEdit: 'edit',
  NotebookRead: 'read',
  Glob: 'glob',
  Grep: 'grep',
  LS: 'glob',
  LSP: 'grep',
};

/** Tools that run commands: theirs are rewritten. */
export const COMMAND_TOOLS: ReadonlySet<string> = new Set(['Bash']);

/**
 * Tools that touch no file, start no program here and open no connection from here: Claude Code's own rules decide about
 * them. The calls that a subagent makes come to the hook by themselves. Every other tool is refused: a later release of
 * Claude Code may have one that runs commands.
 */
export const HARMLESS_TOOLS: ReadonlySet<string> = new Set([
  'Agent',
  'AskUserQuestion',
  'BashOutput',
  'EnterPlanMode',
  'ExitPlanMode',
  'KillBash',
  'KillShell',
  'StructuredOutput',
  'Task',
  'TaskCreate',
  'TaskGet',
  'TaskList',
  'TaskOutput',
  'TaskStop',
  'TaskUpdate',
  'TodoRead',
  'TodoWrite',
  'ToolSearch',
  'WebSearch',
]);

/** Why a tool without a counterpart is refused, and what to do instead. */
export const REFUSED_TOOLS: Readonly<Record<string, string>> = {
  // The commands in its text run without a call of a tool, so that no hook sees them (Claude Code 2.1.330).
  Skill: `the commands in a skill's text would run on the user's machine. Read the skill's file, and follow it`,
  Monitor: "it runs commands on the user's machine. Use Bash",
  WebFetch: `it opens connections from the user's machine. Use curl in Bash: it reaches the hosts that the user allowed`,
};
