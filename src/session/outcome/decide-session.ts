import { openContentStore } from '../../core/store/content.ts';
import type { Choice, Review } from '../../core/types/review.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { chooseClean, chooseNothing, madeCommits } from '../../review/choices/policy.ts';
import { askReview } from '../../review/screen/ask-review.ts';
import { importCommand } from '../../review/screen/commit-lines.ts';
import { summaryLines } from '../../review/screen/summary.ts';
import { tellLines } from '../../review/screen/tell-lines.ts';
import { storeDir } from '../record/session.ts';
import type { UserDeps } from '../stage/deps.ts';

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
    tellLines(summaryLines(review), deps.tell);
    return isStopped || isInterrupted || review.isUnaudited ? chooseNothing(review) : chooseClean(review);
  }
  if (deps.screen === undefined || isInterrupted || review.isUnaudited || !hasQuestion(review)) {
    tellLines(summaryLines(review), deps.tell);
    return chooseNothing(review);
  }
  const importWith = madeCommits(review) ? importCommand(record.id, review.commits) : undefined;
  return askReview({
    review,
    ...(importWith !== undefined && { importWith }),
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
