import { IgnorePatterns } from '../../core/text/patterns/ignore-patterns.ts';
import type { ClaudeData } from '../../core/types/agent/claude-data.ts';
import type { Change, Collected, Rename } from '../../core/types/entry.ts';
import type { Finding } from '../../core/types/finding.ts';
import type { ItemState, Review, ReviewItem } from '../../core/types/review.ts';
import { reviewClaude } from './claude-items.ts';
import { countFiles } from './counts.ts';
import { groupDecisions } from './decisions.ts';
import { identicalRenames } from './renames/identical-renames.ts';

export interface ReviewOptions {
  readonly collected: Collected & { readonly unaudited?: string };
  readonly findings: readonly Finding[];
  /** Globs whose suspect changes count as clean. */
  readonly allowSuspect: readonly string[];
  /** false: ignored output is withheld. true: none of it. Globs: all but those. */
  readonly includeIgnored: boolean | readonly string[];
  /** Given after the session: as includeIgnored, for new files and for files that the session un-ignores. */
  readonly release?: boolean | readonly string[];
  readonly claude?: ClaudeData;
}

const MASS_DELETION_MORE_THAN = 20;

/** The changes of a session with the state of each: clean, suspect, blocked or withheld. In path order. */
export function buildReview(options: ReviewOptions): Review {
  const { collected } = options;
  const byPath = new Map<string, Finding[]>();
  for (const finding of options.findings) {
    const others = byPath.get(finding.path);
    if (others === undefined) byPath.set(finding.path, [finding]);
    else others.push(finding);
  }
  const allowed = matcher(options.allowSuspect);
  const included = askedFor(options.includeIgnored);
  const released = askedFor(options.release ?? false);
  const own = collected.changes.map((change): ReviewItem => {
    const findings = byPath.get(change.path) ?? [];
    byPath.delete(change.path);
    const isAllowed = allowed(change.path);
    const isNew = change.kind === 'created' || change.unignored !== undefined;
    const isIncluded = included(change.path) || (isNew && released(change.path));
    const state = stateOf(change, findings, { allowed: isAllowed, included: isIncluded });
    if (state !== 'withheld' || change.unignored === undefined) return { change, findings, state };
    return { change, findings, state, unignored: judged(findings, isAllowed) };
  });
  // An ignored file that the project has stays there: what the session made of its content is new.
  const withheld = new Set(
    own
      .filter(({ state, unignored }) => state === 'withheld' && unignored === undefined)
      .map(({ change }) => change.path),
  );
  const renames = (collected.renames ?? identicalRenames(collected.changes)).filter(({ from }) => !withheld.has(from));
  const items = withRenames(own, renames);
  return {
    items,
    decisions: groupDecisions(items, renames),
    general: [...byPath.values()].flat(),
    problems: collected.problems,
    withheld: collected.withheld,
    ...(collected.maskedEdits === undefined ? {} : { maskedEdits: collected.maskedEdits }),
    counts: countFiles(items),
    uncompared: collected.uncompared ?? 0,
    massDeletion: massDeletion(items, collected.baseEntries),
    isUnaudited: collected.unaudited !== undefined,
    ...(options.claude === undefined ? {} : { claude: reviewClaude(options.claude) }),
  };
}

/** Both names of each rename whose new name is a new file that can be seen, and where the content of replaced files is. */
function withRenames(items: readonly ReviewItem[], renames: readonly Rename[]): readonly ReviewItem[] {
  const byPath = new Map<string, ReviewItem>(items.map((item) => [item.change.path, item]));
  const replaced = new Map<string, string>();
  for (const { from, to } of renames) {
    const state = byPath.get(to)?.state;
    const isHidden = state === 'withheld' || state === 'git';
    if (byPath.get(from)?.change.kind === 'type' && isHidden) replaced.set(from, to);
  }
  const isShown = ({ from, to }: Rename): boolean => {
    const made = byPath.get(to);
    if (byPath.get(from)?.change.kind !== 'deleted' || made?.change.kind !== 'created') return false;
    return made.state !== 'git' && made.state !== 'withheld';
  };
  const shown = renames.filter(isShown);
  const [to, from] = [
    new Map<string, Rename>(shown.map((rename) => [rename.to, rename])),
    new Map<string, Rename>(shown.map((rename) => [rename.from, rename])),
  ];
  return items.map((item): ReviewItem => {
    const made = to.get(item.change.path);
    const gone = from.get(item.change.path);
    const contentIn = replaced.get(item.change.path);
    if (contentIn !== undefined) return { ...item, contentIn };
    if (gone !== undefined) return { ...item, renamedTo: gone.to };
    if (made === undefined) return item;
    const before = byPath.get(made.from)?.change.before;
    const entry = before === undefined ? {} : { renamedEntry: before };
    return { ...item, renamedFrom: made.from, similarity: made.similarity, ...entry };
  });
}

/** A predicate on the paths that `--include-ignored` asks for: true means every path. */
export function askedFor(patterns: boolean | readonly string[]): (path: string) => boolean {
  return typeof patterns === 'boolean' ? () => patterns : matcher(patterns);
}

/** A predicate on paths from patterns in `.gitignore`'s language; without patterns it is never true. */
export function matcher(patterns: readonly string[]): (path: string) => boolean {
  if (patterns.length === 0) return () => false;
  const rules = new IgnorePatterns({ lines: patterns, ignoreCase: false });
  return (path) => rules.ignores(path, false);
}

function stateOf(
  change: Change,
  findings: readonly Finding[],
  { allowed, included }: { readonly allowed: boolean; readonly included: boolean },
): ItemState {
  if (change.problem !== undefined || findings.some((finding) => finding.severity === 'blocked')) return 'blocked';
  if (change.inGit) return 'git';
  if (change.ignored && !included) return 'withheld';
  return judged(findings, allowed);
}

function judged(findings: readonly Finding[], allowed: boolean): 'clean' | 'suspect' {
  return findings.some((finding) => finding.severity === 'suspect') && !allowed ? 'suspect' : 'clean';
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
