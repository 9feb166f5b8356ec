import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { costText } from '../../core/text/cost.ts';
import { durationText } from '../../core/text/when.ts';
import type { GatewayUsage } from '../../core/types/gateway.ts';

const usageFile = (sessionDir: string): string => path.join(sessionDir, 'usage.json');

/** Writes the totals into the session's directory, for `status` of a session that runs or was killed. */
export function writeUsage(sessionDir: string, usage: GatewayUsage): void {
  const file = usageFile(sessionDir);
  writeFileSync(`${file}.new`, JSON.stringify(usage), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** The totals of a session, or undefined when it sent no request to the provider. */
export function readUsage(sessionDir: string): GatewayUsage | undefined {
  try {
    const value = JSON.parse(readFileSync(usageFile(sessionDir), 'utf8')) as Record<string, unknown>;
    const { requests, inputTokens, outputTokens, costUsd } = value;
    const all = [requests, inputTokens, outputTokens, costUsd].map(Number);
    const [first = 0, second = 0, third = 0, fourth = 0] = all;
    if (!all.every(Number.isFinite)) return undefined;
    return { requests: first, inputTokens: second, outputTokens: third, costUsd: fourth };
  } catch {
    // Usually not written yet; or not a file of run-claude.
    return undefined;
  }
}

/**
 * One line for the user: '12 requests to the model in 3 min 20 s, 120,034 tokens in, 5,000 out, about $0.73 at list
 * prices'. Without a time where that is not known.
 */
export function usageLine(
  { requests, inputTokens, outputTokens, costUsd }: GatewayUsage,
  ranMs: number | undefined = undefined,
): string {
  const count = (value: number): string => value.toLocaleString('en-US');
  // Of a second at least: an agent that asked a model took longer.
  const time = ranMs === undefined ? '' : ` in ${durationText(Math.max(1000, ranMs))}`;
  const asked = `${count(requests)} ${requests === 1 ? 'request' : 'requests'} to the model${time}`;
  return `${asked}, ${count(inputTokens)} tokens in, ${count(outputTokens)} out, ${costText(costUsd)}`;
}
