import { parseDurationMs } from '../../core/config/values/quantities.ts';
import { usageError } from '../../core/errors.ts';

/**
 * The time of `--since`, ISO 8601; '' for all.
 *
 * @throws {RunClaudeError} USAGE
 */
export function sinceOf(value: string | undefined, nowMs: number): string {
  if (value === undefined) return '';
  const agoMs = parseDurationMs(value);
  const atMs = agoMs === undefined ? Date.parse(value) : nowMs - agoMs;
  if (Number.isNaN(atMs))
    throw usageError(`--since: '${value}' is not a time`, 'Write 10m, 2h, or a time such as 2026-11-21T14:00.');
  return new Date(atMs).toISOString();
}
