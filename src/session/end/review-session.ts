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
import type { PersonDeps } from '../start/deps.ts';

/**
 * What can be chosen of a collected session, by its own policy, and with what `apply --include-ignored` asks for besides.
 * Reads only what was frozen.
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

/** Of content that is not held whole the audit gets the two ends: more than a text may have, and what kind it is. */
const END_BYTES = MAX_IN_MEMORY_BYTES / 4;

export interface AuditedSession {
  readonly sessionDir: string;
  readonly policy: Policy;
  readonly base: BaseReader;
}

/** The audit over what was frozen in a session's directory. What is missing there is blocked. */
export function auditCollected(collected: Collected, { sessionDir, policy, base }: AuditedSession): readonly Finding[] {
  const sizes = new Map(
    collected.changes.flatMap(({ before, after }) =>
      [before, after].flatMap((entry) => (entry?.digest === undefined ? [] : [[entry.digest, entry.size] as const])),
    ),
  );
  return auditChanges({
    changes: collected.changes,
    content: (digest) =>
      readable(() =>
        (sizes.get(digest) ?? 0) > MAX_IN_MEMORY_BYTES
          ? readEndsSync(storeDir(sessionDir), digest, END_BYTES)
          : readContentSync(storeDir(sessionDir), digest),
      ),
    base,
    endedNs: String(BigInt(Date.now()) * 1_000_000n),
    userRules: policy.auditRules,
    severities: policy.auditSeverities,
  });
}

/** Content that is gone or not what was frozen is none: that change is blocked, and the others can still be applied. */
function readable(read: () => Buffer): Buffer | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof RunClaudeError && /^CONTENT_(MISSING|DAMAGED)$/.test(error.code)) return undefined;
    throw error;
  }
}

/**
 * What is to become of a session's changes: the policy's answer with --auto-apply, a person's at a terminal, otherwise
 * nothing is decided. A session that was stopped from outside is never auto-applied.
 */
export async function decideSession(
  record: SessionRecord,
  review: Review,
  deps: PersonDeps,
  stopped: boolean,
): Promise<Choice> {
  const { policy, project } = record.plan;
  const interrupted = deps.interruption.by() !== undefined;
  if (policy.autoApply) {
    tellSummary(review, deps);
    return stopped || interrupted ? chooseNothing(review) : chooseClean(review);
  }
  if (deps.screen === undefined || interrupted || !hasQuestion(review)) {
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

/** Whether there is anything that a person could decide, or should know of before the prompt is back. */
function hasQuestion(review: Review): boolean {
  const asks = (state: string): boolean => state === 'suspect' || state === 'blocked';
  const isOpen = review.items.some(({ state }) => state === 'clean' || asks(state));
  const workspace = isOpen || review.decisions.some(({ isUnignored }) => isUnignored);
  return workspace || (review.claude?.items ?? []).some(({ state }) => asks(state));
}

function tellSummary(review: Review, deps: PersonDeps): void {
  for (const { text, severity } of summaryLines(review)) {
    if (severity === 'info') deps.tell({ kind: 'message', level: 'info', text });
    else deps.tell({ kind: 'finding', severity, text: text.replace(/^WARNING: /, '') });
  }
}
