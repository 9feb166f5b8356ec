import type { Policy } from '../../core/types/policy.ts';

/** A line for each part of a policy that is weaker than the default, for the user. `leftOut`: names of MCP servers. */
export function weakenings(policy: Policy, leftOut: readonly string[] = []): string[] {
  const lines: string[] = [];
  const add = (condition: boolean, line: string): void => {
    if (condition) lines.push(line);
  };
  add(policy.network === 'open', 'network open: the agent can send anything it reads anywhere');
  add(policy.credentials === 'file', 'credentials file: the agent can read your Claude credential');
  add(
    policy.mode === 'bind' && policy.permissions === 'skip',
    'the agent works on your own files without permission questions',
  );
  add(
    policy.mode === 'bind' && policy.exclude.length > 0,
    'excluded paths are not kept from the agent in bind mode: --copy-workspace leaves them out',
  );
  add(policy.allowGitPush, 'git push is allowed');
  add(policy.allowHosts.length > 0, `hosts allowed: ${policy.allowHosts.join(', ')}`);
  const partly = (policy.allowRequests ?? []).map((rule) => rule.host);
  add(partly.length > 0, `hosts allowed for some requests: ${partly.join(', ')}`);
  add(
    policy.networkPresets.some((preset) => preset !== 'default'),
    `network presets: ${policy.networkPresets.join(', ')}`,
  );
  add(policy.allowAddresses.length > 0, `private addresses allowed: ${policy.allowAddresses.join(', ')}`);
  add(policy.brokers.length > 0, `secrets brokered for: ${policy.brokers.map((rule) => rule.host).join(', ')}`);
  const servers = [...(policy.mcpServers ?? []), ...(policy.mcpPrograms ?? [])]
    .filter(({ name }) => !leftOut.includes(name))
    .map(({ name, tools }) => `${name} (${tools?.join(', ') ?? 'all tools'})`);
  add(servers.length > 0, `MCP servers: ${servers.join(', ')}`);
  const ports = policy.ports ?? [];
  add(ports.length > 0, `pages of the agent in your browser, from its ports: ${ports.join(', ')}`);
  const locals = policy.allowLocal ?? [];
  add(locals.length > 0, `services of your machine that the agent can use: ${locals.join(', ')}`);
  add(Object.keys(policy.env).length > 0, `variables passed in: ${Object.keys(policy.env).join(', ')}`);
  add(policy.includeIgnored !== false, 'files that ignore rules match come back too');
  add(policy.allowSuspect.length > 0, `suspect changes count as clean in: ${policy.allowSuspect.join(', ')}`);
  add(
    policy.gpu === true,
    "the engine's graphics processors are in the container: its driver is attackable from inside",
  );
  add(policy.toolchain, 'compilers in the image');
  // Tested with runsc (docs/engines.md).
  add(
    policy.runtime !== undefined && policy.runtime !== 'runc',
    `runtime ${policy.runtime}: it decides which protections of the kernel hold`,
  );
  add(policy.image !== undefined, `custom image: ${policy.image}`);
  return lines;
}
