import { usageError } from '../../../core/errors.ts';
import type { BrokeredHost, CompanionOut } from '../../../core/types/gateway.ts';
import type { McpProgram, McpServer } from '../../../core/types/policy.ts';
import { socketsInGateway, TOKEN_HEADER } from '../../companion/companion-place.ts';
import { parseHostRule } from './host-rules.ts';
import { companionName, programHost } from './program-host.ts';

const PATH = '/mcp';

/** The server as the agent sees it. */
export function programServer(program: McpProgram): McpServer {
  return { name: program.name, url: `https://${programHost(program)}${PATH}` };
}

/**
 * What passes to a program's companion. Its token goes with each request: the companion owns the socket's directory, and
 * a link in it could lead to the socket of another one, which has other rules. Without a token the companion refuses.
 */
export function brokeredProgram(program: McpProgram, token: string | undefined): BrokeredHost {
  const requests = ['POST', 'GET', 'DELETE'].map((method) => ({ method, path: PATH }));
  return {
    host: programHost(program),
    ...(token === undefined ? {} : { secret: { header: TOKEN_HEADER, value: token } }),
    passes: { requests },
    mcp: { tools: program.tools },
    socket: socketsInGateway(companionName(program.name)).own,
  };
}

/**
 * The way out of a program: only to the hosts that its table names. Undefined where it names none.
 *
 * @throws {RunClaudeError} USAGE for a host that cannot be a rule
 */
export function wayOut({ name, hosts }: McpProgram): CompanionOut | undefined {
  if (hosts.length === 0) return undefined;
  const rules = hosts.map((host) => parseHostRule(host, `[[mcp]] ${name}`));
  return { name, socket: socketsInGateway(companionName(name)).out, rules };
}

/**
 * Refuses names that two companions would share.
 *
 * @throws {RunClaudeError} USAGE
 */
export function refuseSameNames(programs: readonly McpProgram[]): void {
  const seen = new Set<string>();
  for (const { name } of programs) {
    if (seen.has(companionName(name)))
      throw usageError(`[[mcp]] ${name}: another server has this name in other letter case`, 'Rename one of them.');
    seen.add(companionName(name));
  }
}
