import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { RunClaudeError } from '../errors.ts';
import type { BrokeredHost } from '../types/gateway.ts';
import type { BrokerRule } from '../types/policy.ts';
import { parseHostRule } from './rules.ts';

const TIMEOUT_MS = 30_000;

/**
 * Runs each rule's command on this host for the header's value. Only the gateway gets the value.
 *
 * @throws RunClaudeError BROKER_FAILED when a command fails or prints nothing (its output is not shown); USAGE for a
 * rule whose host is a wildcard, an address or has another port than 443.
 */
export async function resolveBrokers(rules: readonly BrokerRule[]): Promise<readonly BrokeredHost[]> {
  return Promise.all(
    rules.map(async ({ host, header, from, methods }) => {
      const rule = parseHostRule(host, '[[broker]]');
      if (rule.host.startsWith('*.') || (rule.port ?? 443) !== 443) {
        throw new RunClaudeError('BROKER_FAILED', `[[broker]] ${host}: a secret goes to one host on port 443`);
      }
      return { host: rule.host, header, value: await outputOf(host, from), methods };
    }),
  );
}

async function outputOf(host: string, [program, ...args]: readonly string[]): Promise<string> {
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
