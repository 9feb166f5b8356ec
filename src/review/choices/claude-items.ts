import type { RelPath } from '../../core/text/path.ts';
import type { ClaudeAttempt, ClaudeChange, ClaudeData } from '../../core/types/agent/claude-data.ts';
import type { Change, Entry } from '../../core/types/entry.ts';
import type { Finding } from '../../core/types/finding.ts';
import type { ClaudeReview, ItemState, Review, ReviewItem } from '../../core/types/review.ts';

const HOME = '~/.claude/';

/** Claude's data as items next to those of the workspace: what may come back, and the attempts that were refused. */
export function reviewClaude(data: ClaudeData): ClaudeReview {
  const byPath = new Map<string, Finding[]>();
  for (const finding of data.findings) byPath.set(finding.path, [...(byPath.get(finding.path) ?? []), finding]);
  const item = (part: ClaudeChange | ClaudeAttempt, state: ItemState): ReviewItem => {
    const path = claudePath(part.path);
    const findings = byPath.get(path) ?? [];
    byPath.delete(path);
    return { change: asChange(path, part), state, findings };
  };
  const items = [
    ...data.changes.map((change) => item(change, change.verdict)),
    ...data.attempts.map((attempt) => item(attempt, 'blocked')),
  ];
  return { items, general: [...byPath.values()].flat(), dropped: data.dropped };
}

/** A path below Claude's configuration directory as the user knows it. */
export function claudePath(path: string): RelPath {
  return `${HOME}${path}` as RelPath;
}

/** True for an item that is a conversation: lines of JSON, which no diff makes readable. */
export function isConversation(item: ReviewItem): boolean {
  return /^~\/\.claude\/projects\/.*\.jsonl$/.test(item.change.path);
}

/** Only what was added, where a file went on: that is what the store holds of it. */
function asChange(path: RelPath, { digest, size, before }: ClaudeChange | ClaudeAttempt): Change {
  const after: Entry = { kind: 'file', mode: 0o600, mtimeNs: '0', size, digest };
  if (before === undefined) return { path, kind: 'created', after };
  return { path, kind: 'modified', before: { ...after, digest: before }, after };
}

/** Number of suspect files of Claude's data, each of which needs an answer. */
export function countSuspectClaudeFiles(review: Review): number {
  return (review.claude?.items ?? []).filter(({ state }) => state === 'suspect').length;
}
