import { isIP, isIPv4 } from 'node:net';
import { domainToASCII } from 'node:url';
import { usageError } from '../../../core/errors.ts';
import type { HostRule } from '../../../core/types/gateway.ts';
import type { Policy } from '../../../core/types/policy.ts';
import { DEFAULT_PRESETS, PRESETS } from './presets.ts';
import { programHost } from './program-host.ts';

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * 'example.org', 'example.org:8443', '*.example.org', '10.0.0.5:5432', '[fd00::1]:443' as a rule. A name in another
 * script is converted to its ASCII form.
 *
 * @throws RunClaudeError USAGE for anything else, a bare `*` and `*.com` included.
 */
export function parseHostRule(text: string, from: string): HostRule {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:[\]/\\@?#\s]+)(?::(\d{1,5}))?$/.exec(text.trim());
  const name = match?.[1];
  const port = match?.[2] === undefined ? undefined : Number(match[2]);
  if (name === undefined || (port !== undefined && (port < 1 || port > 65_535))) {
    throw usageError(
      `${from}: '${text}' is not HOST or HOST:PORT`,
      'Leave out scheme and path: example.org, or example.org:8443.',
    );
  }
  return { host: ruleHost(name, text, from), from, ...(port === undefined ? {} : { port }) };
}

function ruleHost(name: string, text: string, from: string): string {
  const bare = name.startsWith('[') ? name.slice(1, -1) : name;
  if (isIP(bare) !== 0) return bare.toLowerCase();
  const wildcard = bare.startsWith('*.');
  const host = domainToASCII((wildcard ? bare.slice(2) : bare).replace(/\.$/, '')).toLowerCase();
  const labels = host.split('.');
  const odd = host === '' || isIPv4(host) || !labels.every((label) => LABEL.test(label));
  if (odd || (wildcard && labels.length < 2)) {
    throw usageError(
      `${from}: '${text}' is not a host name that a rule can hold`,
      "A wildcard stands for one domain: '*.example.org'; all hosts: --network open.",
    );
  }
  return wildcard ? `*.${host}` : host;
}

/** @throws RunClaudeError USAGE for a name that no preset has. */
export function requirePreset(name: string, from: string): void {
  if (name === 'default' || Object.hasOwn(PRESETS, name)) return;
  throw usageError(
    `${from}: unknown network preset '${name}'`,
    `There are: default, ${Object.keys(PRESETS).join(', ')}`,
  );
}

/**
 * A range for --allow-address, as it was given.
 *
 * @throws RunClaudeError USAGE when it is not an address range.
 */
export function parseAddressRange(text: string, from = '--allow-address'): string {
  const [address = '', length, more] = text.trim().split('/');
  const bits = isIPv4(address) ? 32 : 128;
  const known = isIP(address) !== 0 && !address.includes('%') && more === undefined;
  if (!known || (length !== undefined && !(/^\d{1,3}$/.test(length) && Number(length) <= bits))) {
    throw usageError(`${from}: '${text}' is not an address range`, 'Write it as 10.1.0.0/16 or fd00:1::/64.');
  }
  return text.trim();
}

/**
 * All rules of a policy, presets spelled out.
 *
 * @throws RunClaudeError USAGE for an unknown preset or a rule that cannot be read.
 */
export function policyRules(
  policy: Pick<Policy, 'allowHosts' | 'allowRequests' | 'mcpServers' | 'mcpPrograms' | 'networkPresets' | 'brokers'>,
): readonly HostRule[] {
  const presets = policy.networkPresets.flatMap((preset) => {
    requirePreset(preset, 'network-presets');
    return preset === 'default' ? DEFAULT_PRESETS : [preset];
  });
  return [
    ...presets.flatMap((preset) => (PRESETS[preset] ?? []).map((host) => ({ host, from: `preset ${preset}` }))),
    ...policy.allowHosts.map((text) => parseHostRule(text, '--allow-host')),
    ...policy.brokers.map((broker) => parseHostRule(broker.host, '[[broker]]')),
    ...(policy.allowRequests ?? []).map((rule) => parseHostRule(rule.host, '[[allow]]')),
    ...(policy.mcpServers ?? []).map(({ url }) => parseHostRule(hostOf(url), '[[mcp]]')),
    ...(policy.mcpPrograms ?? []).map((program) => ({ host: programHost(program), port: 443, from: '[[mcp]]' })),
  ];
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);
