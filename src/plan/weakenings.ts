import type { Policy } from '../types/policy.ts';

/** One line for each thing of a policy that is weaker than the default, in the person's words. */
export function weakenings(policy: Policy): string[] {
  const lines: string[] = [];
  const add = (condition: boolean, line: string): void => {
    if (condition) lines.push(line);
  };
  add(policy.network === 'open', 'network open: the agent can send anything it reads anywhere');
  add(policy.credentials === 'file', 'credentials file: the agent can read your Claude credential');
  add(policy.mode === 'bind' && policy.permissions === 'skip', 'no questions asked while it works on your own files');
  add(policy.allowGitPush, 'git push is let through');
  add(policy.allowHosts.length > 0, `hosts let through: ${policy.allowHosts.join(', ')}`);
  add(
    policy.networkPresets.some((preset) => preset !== 'default'),
    `network presets: ${policy.networkPresets.join(', ')}`,
  );
  add(policy.allowAddresses.length > 0, `private addresses let through: ${policy.allowAddresses.join(', ')}`);
  add(policy.brokers.length > 0, `secrets brokered for: ${policy.brokers.map((rule) => rule.host).join(', ')}`);
  add(Object.keys(policy.env).length > 0, `variables passed in: ${Object.keys(policy.env).join(', ')}`);
  add(policy.includeIgnored !== false, 'what the ignore rules match comes back too');
  add(policy.allowSuspect.length > 0, `suspect changes count as clean in: ${policy.allowSuspect.join(', ')}`);
  add(policy.toolchain, 'compilers inside');
  // Seen with runsc: see docs/engines.md.
  add(
    policy.runtime !== undefined && policy.runtime !== 'runc',
    `runtime ${policy.runtime}: what depends on this machine's kernel holds as far as docs/engines.md says`,
  );
  add(policy.image !== undefined, `another image: ${policy.image}`);
  return lines;
}
