import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { RunClaudeError, usageError } from '../errors.ts';
import type { BrokeredHost } from '../types/gateway.ts';
import type { AllowRule, BrokerRule, Policy } from '../types/policy.ts';
import { parseRequestRule } from './request-rules.ts';
import { parseHostRule } from './rules.ts';

const TIMEOUT_MS = 30_000;

/**
 * Refuses what cannot be a rule, before anything is started.
 *
 * @throws {RunClaudeError} BROKER_FAILED, USAGE
 */
export function checkBrokers(policy: Pick<Policy, 'brokers' | 'allowRequests'>): void {
  allowedHosts(policy.allowRequests);
  for (const rule of policy.brokers) brokeredHost(rule);
}

/**
 * The hosts whose requests the gateway reads. Runs each broker's command on this host for the header's value. Only the
 * gateway gets the value.
 *
 * @throws {RunClaudeError} BROKER_FAILED when a command fails or prints nothing (its output is not shown), and for a
 * broker whose host is a wildcard, an address or has another port than 443; USAGE for the same of an allow rule, and for a
 * request that cannot be read.
 */
export async function resolveBrokers({
  brokers,
  allowRequests,
}: Pick<Policy, 'brokers' | 'allowRequests'>): Promise<readonly BrokeredHost[]> {
  const allowed = allowedHosts(allowRequests);
  const brokered = brokers.map(async (rule) => {
    const host = brokeredHost(rule);
    return { ...host, secret: { header: rule.header, value: await outputOf(rule) } };
  });
  return [...allowed, ...(await Promise.all(brokered))];
}

function allowedHosts(rules: readonly AllowRule[] = []): BrokeredHost[] {
  return rules.map(({ host, requests }) => {
    const name = oneHost(host, '[[allow]]');
    if (name === undefined) throw usageError(`[[allow]] ${host}: requests are read for one host on port 443`);
    return { host: name, passes: passesOf(requests, `[[allow]] ${host}`) };
  });
}

function brokeredHost(rule: BrokerRule): BrokeredHost {
  const host = oneHost(rule.host, '[[broker]]');
  if (host !== undefined) return { host, passes: passesOfBroker(rule) };
  throw new RunClaudeError('BROKER_FAILED', `[[broker]] ${rule.host}: a secret goes to one host on port 443`);
}

/** The name of a rule that stands for one host and its usual port. */
function oneHost(text: string, from: string): string | undefined {
  const { host, port = 443 } = parseHostRule(text, from);
  return host.startsWith('*.') || port !== 443 ? undefined : host;
}

function passesOfBroker({ host, methods, requests }: BrokerRule): BrokeredHost['passes'] {
  return requests === undefined ? { methods } : passesOf(requests, `[[broker]] ${host}`);
}

const passesOf = (requests: readonly string[], from: string): BrokeredHost['passes'] => ({
  requests: requests.map((text) => parseRequestRule(text, from)),
});

async function outputOf({ host, from: [program, ...args] }: BrokerRule): Promise<string> {
  const hint = 'its command must print the value of the header, one line';
  if (program === undefined) throw new RunClaudeError('BROKER_FAILED', `[[broker]] ${host} names no command`, { hint });
  let value: string;
  try {
    const { stdout } = await promisify(execFile)(program, args, { timeout: TIMEOUT_MS });
    value = stdout.trim();
  } catch {
    // The error would carry the command's output.
    throw new RunClaudeError('BROKER_FAILED', `[[broker]] ${host}: ${program} failed`, { hint });
  }
  if (!/^[\x20-\x7e]+$/.test(value)) {
    throw new RunClaudeError('BROKER_FAILED', `[[broker]] ${host}: ${program} printed no header value`, { hint });
  }
  return value;
}
