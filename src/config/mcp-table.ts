import { isDeepStrictEqual } from 'node:util';
import { usageError } from '../errors.ts';
import type { McpServer } from '../types/policy.ts';
import { readConfigFile } from './config-file.ts';

/**
 * The text of a configuration file with one more `[[mcp]]` table, after everything that is there.
 *
 * @throws {RunClaudeError} USAGE for a server that a file cannot have, and for a name that is there already
 */
export function addServer(text: string, server: McpServer, where: string): string {
  const { mcpServers } = readConfigFile(text, where);
  if (mcpServers.some(({ name }) => name === server.name)) {
    throw usageError(
      `${where} has an MCP server ${server.name} already`,
      `Remove it first: run-claude mcp remove ${server.name}`,
    );
  }
  const rows = (['name', 'url', 'header', 'from', 'tools'] as const).flatMap((key) =>
    server[key] === undefined ? [] : [`${key} = ${tomlText(server[key])}`],
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
  const rest = before.mcpServers.filter((server) => server.name !== name);
  if (rest.length === before.mcpServers.length) {
    const names = rest.map((server) => server.name).join(', ');
    throw usageError(
      `${where} has no MCP server ${name}`,
      names === '' ? 'run-claude mcp add NAME --url URL adds one.' : `There are: ${names}`,
    );
  }
  const lines = text.split('\n');
  const starts = lines.flatMap((line, index) => (/^\s*\[\[\s*mcp\s*\]\]/.test(line) ? [index] : []));
  for (const start of starts) {
    const next = lines.findIndex((line, index) => index > start && /^\s*\[/.test(line));
    let end = next === -1 ? lines.length : next;
    // Comments before the next table belong to that one.
    while (next !== -1 && /^\s*(#.*)?$/.test(lines[end - 1] ?? '')) end -= 1;
    const without = [...lines.slice(0, start), ...lines.slice(end)].join('\n');
    if (isSame(without, { ...before, mcpServers: rest }, where)) return without.replace(/\n{3,}$/, '\n');
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

/** JSON's strings and lists of strings are TOML's too. */
const tomlText = (value: string | readonly string[]): string =>
  typeof value === 'string' ? JSON.stringify(value) : `[${value.map((one) => JSON.stringify(one)).join(', ')}]`;
