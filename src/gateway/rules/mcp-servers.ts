import { type RunClaudeError, usageError } from '../../errors.ts';
import type { BrokeredHost, RequestRule } from '../../types/gateway.ts';
import type { McpServer } from '../../types/policy.ts';
import { parseHostRule } from './host-rules.ts';
import { parseRequestRule } from './request-rules.ts';

/** The methods of MCP over HTTP: a message, the stream of the server's own, the end of a session. */
const METHODS = ['POST', 'GET', 'DELETE'];

/**
 * The host of an MCP server and what passes to it, without its secret: its one address.
 *
 * @throws {RunClaudeError} USAGE for an address that is not https with a plain path
 */
export function mcpHost({ name, url, tools }: McpServer): BrokeredHost {
  const where = `[[mcp]] ${name}`;
  const address = URL.canParse(url) ? new URL(url) : undefined;
  const isBare = address !== undefined && address.href === `https://${address.host}${address.pathname}`;
  // A normalised address is another text: two servers could read two paths.
  if (!isBare || address.port !== '' || ![url, `${url}/`].includes(address.href)) throw refused(where, url);
  const { host } = parseHostRule(address.hostname, where);
  const requests: readonly RequestRule[] = METHODS.map((method) =>
    parseRequestRule(`${method} ${address.pathname}`, where),
  );
  return { host, passes: { requests }, mcp: { tools } };
}

const refused = (where: string, url: string): RunClaudeError =>
  usageError(
    `${where}: ${url} is not an address that an MCP server can have`,
    'Write it as https://HOST/PATH, without port, login and query; a secret goes into a header.',
  );
