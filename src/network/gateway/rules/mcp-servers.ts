import { type RunClaudeError, usageError } from '../../../core/errors.ts';
import { localPort } from '../../../core/text/local-address.ts';
import type { BrokeredHost, RequestRule } from '../../../core/types/gateway.ts';
import type { McpServer } from '../../../core/types/policy.ts';
import { parseHostRule } from './host-rules.ts';
import { parseLocalService } from './local-services.ts';
import { parseRequestRule } from './request-rules.ts';

/** The methods of MCP over HTTP: a message, the stream of the server's own, the end of a session. */
const METHODS = ['POST', 'GET', 'DELETE'];

/** Whether the gateway reads the requests to a server. One of this machine is a service as those of `--allow-local`. */
export const isRemote = ({ url }: McpServer): boolean => localPort(url) === undefined;

/**
 * @throws {RunClaudeError} USAGE for an address that the server cannot have, and for a server of this machine with a
 * secret, a login or a list of tools: the gateway does not read what passes to it.
 */
export function checkMcpServer(server: McpServer): void {
  const { name, url, header, oauth, tools } = server;
  const port = localPort(url);
  if (port === undefined) return void mcpHost(server);
  const where = `[[mcp]] ${name}`;
  parseLocalService(String(port), where);
  const { href } = new URL(url);
  if (![url, `${url}/`].includes(href) || /[?#]/.test(url)) throw refused(where, url);
  if (header !== undefined || oauth !== undefined || tools !== undefined)
    throw usageError(
      `${where}: a server of this machine has no secret, no login and no list of tools here`,
      'Leave them out: run-claude does not read what the agent sends to it.',
    );
}

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
    'Write it as https://HOST/PATH, without port, login and query; a secret goes into a header. A server of this machine is http://127.0.0.1:PORT/PATH.',
  );
