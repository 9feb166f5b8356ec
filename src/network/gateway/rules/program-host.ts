import type { McpProgram, Policy } from '../../../core/types/policy.ts';

/** The name under which the agent reaches a program's companion. No resolver has names of this domain. */
export function programHost({ name }: Pick<McpProgram, 'name'>): string {
  return `${companionName(name)}.mcp.internal`;
}

/** The programs that a session runs: without the gateway nothing could reach them. */
export function servedPrograms({
  network,
  mcpPrograms = [],
}: Pick<Policy, 'network' | 'mcpPrograms'>): readonly McpProgram[] {
  return network === 'gateway' ? mcpPrograms : [];
}

/** A companion's name: the server's, as a label of a host name. */
export function companionName(name: string): string {
  return name.toLowerCase();
}
