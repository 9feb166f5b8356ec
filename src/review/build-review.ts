import ignore from 'ignore';
import type { ClaudeData } from '../types/claude-data.ts';
import type { Change, ChangeKind, Collected } from '../types/entry.ts';
import type { Finding } from '../types/finding.ts';
import type { ItemState, Review, ReviewItem } from '../types/review.ts';
import { reviewClaude } from './claude-items.ts';
import { findRenames } from './renames.ts';

export interface ReviewOptions {
  readonly collected: Collected;
  readonly findings: readonly Finding[];
  /** Globs whose suspect changes count as clean. */
  readonly allowSuspect: readonly string[];
  /** false: ignored output is withheld. true: none of it. Globs: all but those. */
  readonly includeIgnored: boolean | readonly string[];
  readonly claude?: ClaudeData;
}

const MASS_DELETION_MORE_THAN = 20;

/** What can be chosen of a session's changes, and how each stands. Pure; changes stay in path order. */
export function buildReview(options: ReviewOptions): Review {
  const { collected } = options;
  const byPath = new Map<string, Finding[]>();
  for (const finding of options.findings) byPath.set(finding.path, [...(byPath.get(finding.path) ?? []), finding]);
  const allowed = matcher(options.allowSuspect);
  const included =
    typeof options.includeIgnored === 'boolean'
      ? () => options.includeIgnored === true
      : matcher(options.includeIgnored);
  const renames = findRenames(collected.changes);
  const items = collected.changes.map((change): ReviewItem => {
    const findings = byPath.get(change.path) ?? [];
    byPath.delete(change.path);
    const from = renames.get(change.path);
    const state = stateOf(change, findings, { allowed: allowed(change.path), included: included(change.path) });
    return { change, findings, state, ...(from === undefined ? {} : { renamedFrom: from }) };
  });
  return {
    items,
    general: [...byPath.values()].flat(),
    problems: collected.problems,
    withheld: collected.withheld,
    counts: countKinds(items),
    massDeletion: massDeletion(items, collected.baseEntries),
    ...(options.claude === undefined ? {} : { claude: reviewClaude(options.claude) }),
  };
}

/** A predicate on paths from patterns in `.gitignore`'s language; without patterns it is never true. */
export function matcher(patterns: readonly string[]): (path: string) => boolean {
  if (patterns.length === 0) return () => false;
  const rules = ignore({ ignorecase: false }).add([...patterns]);
  return (path) => rules.ignores(path);
}

function stateOf(
  change: Change,
  findings: readonly Finding[],
  { allowed, included }: { readonly allowed: boolean; readonly included: boolean },
): ItemState {
  if (change.problem !== undefined || findings.some((finding) => finding.severity === 'blocked')) return 'blocked';
  if (change.inGit) return 'git';
  if (change.ignored && !included) return 'withheld';
  return findings.some((finding) => finding.severity === 'suspect') && !allowed ? 'suspect' : 'clean';
}

function countKinds(items: readonly ReviewItem[]): Record<ChangeKind, number> {
  const counts: Record<ChangeKind, number> = { created: 0, modified: 0, deleted: 0, mode: 0, type: 0 };
  for (const { change, state } of items) {
    if (change.inGit || state === 'withheld') continue;
    const entry = change.after ?? change.before;
    if (entry?.kind !== 'dir' || change.kind === 'type') counts[change.kind] += 1;
  }
  return counts;
}

function massDeletion(items: readonly ReviewItem[], of: number): Review['massDeletion'] {
  const kept = items.filter(({ state }) => state === 'clean' || state === 'suspect');
  const renamed = new Set(kept.map(({ renamedFrom }) => renamedFrom));
  const deleted = items.filter(
    ({ change, state }) =>
      change.kind === 'deleted' && !change.inGit && state !== 'withheld' && !renamed.has(change.path),
  );
  return deleted.length > MASS_DELETION_MORE_THAN && deleted.length * 2 > of
    ? { deleted: deleted.length, of }
    : undefined;
}
