import type { Finding } from '../../core/types/finding.ts';

/** Named here, since the list of sessions asks and loads no rule. */
const LEAK_RULES: ReadonlySet<string> = new Set(['decoy-written', 'masked-value', 'decoy-sent']);

/** Whether a finding says that the session handled values of masked files: nothing of it is applied by itself. */
export function isLeak({ rule, severity }: Pick<Finding, 'rule' | 'severity'>): boolean {
  return severity === 'blocked' && LEAK_RULES.has(rule);
}
