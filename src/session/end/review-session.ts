import { auditChanges } from '../../audit/audit.ts';
import type { BaseReader } from '../../audit/input.ts';
import { RunClaudeError } from '../../errors.ts';
import { readCollected, storeDir } from '../../record/session.ts';
import { buildReview } from '../../review/build-review.ts';
import { chooseClean, chooseNothing } from '../../review/policy.ts';
import { openContentStore, readContentSync, readEndsSync } from '../../store/content.ts';
import { askReview } from '../../terminal/review/ask-review.ts';
import { summaryLines } from '../../terminal/review/summary.ts';
import { MAX_IN_MEMORY_BYTES } from '../../text/in-memory.ts';
import type { Collected } from '../../types/entry.ts';
import type { Finding } from '../../types/finding.ts';
import type { Policy } from '../../types/policy.ts';
import type { Choice, Review } from '../../types/review.ts';
import type { CollectedRecord, SessionRecord } from '../../types/session.ts';
import type { UserDeps } from '../start/deps.ts';

/**
 * The changes of a collected session that can be chosen, by its own policy. `release` is what `--include-ignored` of a
 * later `apply` names. Reads only what was frozen.
 */
export function reviewOf(
  record: SessionRecord,
  collected: CollectedRecord = readCollected(record.plan.sessionDir),
  release: boolean | readonly string[] = false,
): Review {
  const { policy } = record.plan;
  return buildReview({
    collected,
    findings: collected.findings,
    allowSuspect: policy.allowSuspect,
    includeIgnored: policy.includeIgnored,
    release,
    ...(collected.claude && { claude: collected.claude }),
  });
}

/** Of a large file the audit gets the beginning and the end: enough to see its format, and more than a text may have. */
const END_BYTES = MAX_IN_MEMORY_BYTES / 4;

export interface AuditedSession {
  readonly sessionDir: string;
  readonly policy: Policy;
  readonly base: BaseReader;
}

/** Audits what was frozen in a session's directory. A change whose content is missing there is blocked. */
export function auditCollected(collected: Collected, { sessionDir, policy, base }: AuditedSession): readonly Finding[] {
  const sizes = new Map(
    collected.changes.flatMap(({ before, after }) =>
      [before, after].flatMap((entry) => (entry?.digest === undefined ? [] : [[entry.digest, entry.size] as const])),
    ),
  );
  return auditChanges({
    changes: collected.changes,
    content: (digest) =>
      contentIfIntact(() =>
        (sizes.get(digest) ?? 0) > MAX_IN_MEMORY_BYTES
          ? readEndsSync(storeDir(sessionDir), digest, END_BYTES)
          : readContentSync(storeDir(sessionDir), digest),
      ),
    base,
    endedNs: String(BigInt(Date.now()) * 1_000_000n),
    // A user who is asked sees the note; nobody sees it with --auto-apply.
    newKinds: policy.autoApply ? (policy.newKinds ?? 'note') : 'note',
    userRules: policy.auditRules,
    severities: policy.auditSeverities,
  });
}

/** Undefined for content that is missing or damaged: its change is blocked, and the others can still be applied. */
function contentIfIntact(read: () => Buffer): Buffer | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof RunClaudeError && /^CONTENT_(MISSING|DAMAGED)$/.test(error.code)) return undefined;
    throw error;
  }
}

/**
 * The decision about a session's changes: the policy's with --auto-apply, the user's on a terminal, otherwise none. A
 * session that was stopped from outside is never applied automatically.
 */
export async function decideSession(
  record: SessionRecord,
  review: Review,
  deps: UserDeps,
  isStopped: boolean,
): Promise<Choice> {
  const { policy, project } = record.plan;
  const isInterrupted = deps.interruption.by() !== undefined;
  if (policy.autoApply) {
    tellSummary(review, deps);
    return isStopped || isInterrupted ? chooseNothing(review) : chooseClean(review);
  }
  if (deps.screen === undefined || isInterrupted || !hasQuestion(review)) {
    tellSummary(review, deps);
    return chooseNothing(review);
  }
  return askReview({
    review,
    content: openContentStore(storeDir(record.plan.sessionDir)),
    project: project.root,
    home: deps.host.home,
    screen: deps.screen,
  });
}

/** Whether there is anything for the user to decide, or to see before the shell's prompt returns. */
function hasQuestion(review: Review): boolean {
  const asks = (state: string): boolean => state === 'suspect' || state === 'blocked';
  const isOpen = review.items.some(({ state }) => state === 'clean' || asks(state));
  const workspace = isOpen || review.decisions.some(({ isUnignored }) => isUnignored);
  return workspace || (review.claude?.items ?? []).some(({ state }) => asks(state));
}

function tellSummary(review: Review, deps: UserDeps): void {
  for (const { text, severity } of summaryLines(review)) {
    if (severity === 'info') deps.tell({ kind: 'message', level: 'info', text });
    else deps.tell({ kind: 'finding', severity, text: text.replace(/^WARNING: /, '') });
  }
}
