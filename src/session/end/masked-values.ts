import { findingsOf } from '../../audit/findings.ts';
import { seenHits } from '../../audit/masked.ts';
import type { Change } from '../../core/types/entry.ts';
import type { Finding } from '../../core/types/finding.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { MaskedValues } from '../../core/types/secret/decoy.ts';
import { readSeenDecoys } from '../../network/gateway/decoy-log.ts';
import { sessionDecoys } from '../record/secrets/home-decoys.ts';
import { realValues } from './real-values.ts';

/** What the changes of a session are searched for. `paths`: masked files whose changes never come back. */
export function maskedValues(plan: Pick<Plan, 'sessionDir' | 'project' | 'policy'>): MaskedValues | undefined {
  const decoys = sessionDecoys(plan.sessionDir);
  if (decoys.length === 0) return undefined;
  const paths = [...new Set(decoys.map(({ path }) => path))];
  return { decoys, real: realValues(plan, paths), paths };
}

/** As {@link maskedValues}, for commits: one that has a masked file is no less than a copy of it. */
export function maskedInCommits(plan: Pick<Plan, 'sessionDir' | 'project' | 'policy'>): MaskedValues | undefined {
  const masked = maskedValues(plan);
  return masked === undefined ? undefined : { ...masked, paths: [] };
}

/** The findings on what the agent sent, which the gateway saw. */
export function seenFindings(sessionDir: string): readonly Finding[] {
  return findingsOf(seenHits(readSeenDecoys(sessionDir)), undefined, []);
}

/**
 * The findings, where a decoy in a file that is withheld is suspect: builds and caches copy what they read, and the file
 * does not come back unless the user asks for it.
 */
export function lowerWithheld(findings: readonly Finding[], changes: readonly Change[]): readonly Finding[] {
  const withheld = new Set<string>(changes.flatMap(({ path, ignored }) => (ignored === true ? [path] : [])));
  if (withheld.size === 0) return findings;
  return findings.map((one) =>
    one.rule === 'decoy-written' && withheld.has(one.path) ? { ...one, severity: 'suspect' } : one,
  );
}
