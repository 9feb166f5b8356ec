import { isDeepStrictEqual } from 'node:util';
import { usageError } from '../errors.ts';
import type { McpProgram, McpServer } from '../types/policy.ts';
import { readConfigFile } from './config-file.ts';

/**
 * The text of a configuration file with one more `[[mcp]]` table, after everything that is there.
 *
 * @throws {RunClaudeError} USAGE for a server that a file cannot have, and for a name that is there already
 */
export function addServer(text: string, server: McpServer | McpProgram, where: string): string {
  const { mcpServers, mcpPrograms } = readConfigFile(text, where);
  if ([...mcpServers, ...mcpPrograms].some(({ name }) => name === server.name)) {
    throw usageError(
      `${where} has an MCP server ${server.name} already`,
      `Remove it first: run-claude mcp remove ${server.name}`,
    );
  }
  const rows = Object.entries(server).flatMap(([key, value]: readonly [string, TomlValue | true | undefined]) =>
    value === undefined || (typeof value === 'object' && Object.keys(value).length === 0)
      ? []
      : [`${key} = ${tomlText(value)}`],
  );
  const gap = text === '' || text.endsWith('\n\n') ? '' : text.endsWith('\n') ? '\n' : '\n\n';
  const added = `${text}${gap}[[mcp]]\n${rows.join('\n')}\n`;
  readConfigFile(added, where);
  return added;
}

/**
 * The text without the table of a server. Everything else stays, comments too.
 *
 * @throws {RunClaudeError} USAGE where there is no such server, and where other lines are among its own
 */
export function removeServer(text: string, name: string, where: string): string {
  const before = readConfigFile(text, where);
  const without = <T extends { readonly name: string }>(servers: readonly T[]): readonly T[] =>
    servers.filter((server) => server.name !== name);
  const rest = [...without(before.mcpServers), ...without(before.mcpPrograms)];
  if (rest.length === before.mcpServers.length + before.mcpPrograms.length) {
    const names = rest.map((server) => server.name).join(', ');
    throw usageError(
      `${where} has no MCP server ${name}`,
      names === '' ? 'run-claude mcp add NAME --url URL adds one.' : `There are: ${names}`,
    );
  }
  const remaining = { mcpServers: without(before.mcpServers), mcpPrograms: without(before.mcpPrograms) };
  const lines = text.split('\n');
  const starts = lines.flatMap((line, index) => (/^\s*\[\[\s*mcp\s*\]\]/.test(line) ? [index] : []));
  for (const start of starts) {
    const next = lines.findIndex((line, index) => index > start && /^\s*\[/.test(line));
    let end = next === -1 ? lines.length : next;
    // Comments before the next table belong to that one.
    while (next !== -1 && /^\s*(#.*)?$/.test(lines[end - 1] ?? '')) end -= 1;
    const left = [...lines.slice(0, start), ...lines.slice(end)].join('\n');
    if (isSame(left, { ...before, ...remaining }, where)) return left.replace(/\n{3,}$/, '\n');
  }
  throw usageError(`${where}: the table of ${name} is mixed with others`, 'Remove it with an editor.');
}

function isSame(text: string, wanted: ReturnType<typeof readConfigFile>, where: string): boolean {
  try {
    return isDeepStrictEqual(readConfigFile(text, where), wanted);
  } catch {
    // What is left cannot be read: these were not the table's lines alone.
    return false;
  }
}

type TomlValue = string | readonly string[] | Readonly<Record<string, string | readonly string[]>>;

/** JSON's strings and lists of strings are TOML's too. */
function tomlText(value: TomlValue | true): string {
  if (value === true) return 'true';
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((one) => JSON.stringify(one)).join(', ')}]`;
  return `{ ${Object.entries(value)
    .map(([key, one]) => `${key} = ${tomlText(one)}`)
    .join(', ')} }`;
}
