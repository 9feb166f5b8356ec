import { isIP } from 'node:net';
import type { Agent } from '../../agents/agent.ts';
import { DEFAULT_AGENT } from '../../agents/agents.ts';
import { SPECIAL_ADDRESSES } from '../../core/text/special-addresses.ts';
import type { Secret } from '../../core/types/agent/credential.ts';
import type { BrokeredHost, GatewayConfig, HostRule } from '../../core/types/gateway.ts';
import type { Policy } from '../../core/types/policy.ts';
import { GATEWAY_DIR } from './agent-side.ts';
import { pricesOf } from './pricing.ts';
import { parseAddressRange, policyRules } from './rules/host-rules.ts';
import { parseLocalService } from './rules/local-services.ts';
import { wayOut } from './rules/mcp-programs.ts';
import { BROWSER_HOSTS, PROVIDER_HOSTS, QUIET_HOSTS } from './rules/presets.ts';
import { servedPrograms } from './rules/program-host.ts';
import type { Upstreams } from './upstream.ts';

/** The credential is a file inside, so the agent connects to the provider itself. */
const DIRECT_PROVIDER = ['api.anthropic.com', 'platform.claude.com', 'console.anthropic.com', 'claude.ai'];

/**
 * The gateway's first line of stdin, from the policy, the addresses and the secrets. Pure.
 *
 * @throws RunClaudeError USAGE for a rule, preset or range that cannot be read.
 */
export function gatewayConfig(
  policy: Policy,
  upstreams: Upstreams,
  secret: Secret | undefined,
  brokers: readonly BrokeredHost[],
  agent: Pick<Agent, 'noLogin' | 'quietHosts'> = DEFAULT_AGENT,
): GatewayConfig {
  const direct = policy.credentials === 'file';
  const hasBrowser = policy.environment?.packages.includes('chromium') === true;
  const provider = new URL(upstreams.provider.url).hostname;
  const own: readonly string[] = isIP(provider) === 0 ? [provider] : [];
  const directRules: readonly HostRule[] = direct
    ? [...DIRECT_PROVIDER, ...own].map((host) => ({ host, from: '--credentials=file' }))
    : [];
  return {
    type: 'start',
    directory: GATEWAY_DIR,
    rules: policy.network === 'gateway' ? [...policyRules(policy), ...directRules] : [],
    allowAddresses: policy.allowAddresses.map((range) => parseAddressRange(range)),
    specialAddresses: SPECIAL_ADDRESSES,
    quiet: [...QUIET_HOSTS, ...agent.quietHosts, ...(hasBrowser ? BROWSER_HOSTS : [])],
    providerHosts: direct ? [] : [...PROVIDER_HOSTS, ...own],
    provider: policy.credentials === 'broker' ? upstreams.provider : undefined,
    secret,
    noSecret:
      policy.credentials === 'broker' ? agent.noLogin : `there is no broker with --credentials=${policy.credentials}`,
    proxy: upstreams.proxy,
    extraCa: upstreams.extraCa,
    hosts: {},
    prices: pricesOf(upstreams.provider.api),
    maxCostUsd: policy.maxCostUsd,
    maxRequests: policy.maxRequests,
    usage: { requests: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 },
    brokers,
    companions: servedPrograms(policy).flatMap((program) => wayOut(program) ?? []),
    localPorts: (policy.allowLocal ?? []).map((text) => parseLocalService(text).port),
    ca: undefined,
    tellsCa: true,
    caBundle: '/etc/ssl/certs/ca-certificates.crt',
    decoys: [],
    limits: {
      connections: 512,
      bytesPerConnection: 16 * 1024 ** 3,
      headMs: 15_000,
      connectMs: 15_000,
      idleMs: 30 * 60_000,
    },
  };
}
