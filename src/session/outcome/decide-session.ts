import { openContentStore } from '../../core/store/content.ts';
import type { Choice, Review } from '../../core/types/review.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { isRehearsed } from '../../review/choices/findings.ts';
import { chooseClean, chooseHeld, chooseNothing, leakOf, madeCommits } from '../../review/choices/policy.ts';
import { askReview } from '../../review/screen/ask/ask-review.ts';
import { importCommand } from '../../review/screen/commit-lines.ts';
import type { ReviewQuestion } from '../../review/screen/diff/show.ts';
import { tellLines } from '../../review/screen/finding-lines.ts';
import { summaryLines } from '../../review/screen/summary.ts';
import { askYesNo } from '../../terminal/ask.ts';
import { amount } from '../../terminal/progress.ts';
import type { Screen } from '../../terminal/screen.ts';
import { appendEvent } from '../record/events/events-file.ts';
import { storeDir } from '../record/session.ts';
import type { UserDeps } from '../stage/deps.ts';
import { testLines } from '../tests/test-lines.ts';
import { havePassed } from '../tests/verdict.ts';
import { rehearseQuestion } from './questions.ts';
import { rehearserOf } from './rehearse-session.ts';

/** What there is to decide about. */
interface Reviewed {
  /** All that the session changed. */
  readonly whole: Review;
  /** What of it the target does not have. */
  readonly review: Review;
}

export interface Undecided {
  readonly record: SessionRecord;
  readonly reviewed: Reviewed;
  /** Reads the review again, with what a rehearsal found. */
  readonly again: () => Promise<Reviewed>;
  /** The session has just ended: `--rehearse` counts. */
  readonly isEnd: boolean;
  /** It was stopped from outside. */
  readonly isStopped: boolean;
}

interface Decided extends Reviewed {
  readonly choice: Choice;
}

/**
 * The decision about a session's changes, and the review that it is about: the policy's with --auto-apply, the user's on a
 * terminal, otherwise none. A session that was stopped from outside is never applied automatically, none that handled
 * values of masked files, none whose rehearsal found something or failed, and with --require-tests none whose tests did
 * not all pass.
 */
export async function decideSession(undecided: Undecided, deps: UserDeps): Promise<Decided> {
  const { record, again, isStopped } = undecided;
  const { policy, sessionDir } = record.plan;
  for (const text of testLines(record.tests)) deps.tell({ kind: 'message', level: 'info', text });
  const rehearse = rehearserOf(record, deps);
  let reviewed = undecided.reviewed;
  let isTried = true;
  if (await isRehearsedFirst(undecided, deps)) {
    isTried = rehearse === undefined ? tellNotRehearsed(deps) : await rehearse();
    if (isTried) reviewed = await again();
  }
  const { review } = reviewed;
  const isInterrupted = deps.interruption.by() !== undefined;
  if (policy.autoApply) {
    tellLines(summaryLines(review), deps.tell);
    const isUntested = policy.requireTests === true && !havePassed(record.tests);
    const isLeft = isStopped || isInterrupted || review.isUnaudited || !isTried || isUntested;
    return { ...reviewed, choice: isLeft ? chooseNothing(review) : chooseByPolicy(review) };
  }
  if (deps.screen === undefined || isInterrupted || review.isUnaudited || !hasQuestion(review)) {
    tellLines(summaryLines(review), deps.tell);
    return { ...reviewed, choice: chooseNothing(review) };
  }
  const choice = await askReview(
    questionOf(record, review, deps.screen, deps, {
      ...(rehearse !== undefined && {
        rehearse: async () => {
          if (await rehearse()) reviewed = await again();
          return reviewed.review;
        },
      }),
    }),
  );
  appendEvent(sessionDir, 'answer', answerText(choice));
  return { ...reviewed, choice };
}

function questionOf(
  { id, plan }: SessionRecord,
  review: Review,
  screen: Screen,
  { host }: UserDeps,
  more: Pick<ReviewQuestion, 'rehearse'>,
): ReviewQuestion {
  const importWith = madeCommits(review) ? importCommand(id, review.commits) : undefined;
  return {
    review,
    ...(importWith !== undefined && { importWith }),
    content: openContentStore(storeDir(plan.sessionDir)),
    project: plan.project.root,
    home: host.home,
    screen,
    ...more,
  };
}

/** Whether the changes are rehearsed before they are decided about: by the setting, or because the user says so. */
async function isRehearsedFirst({ record, reviewed, isEnd }: Undecided, deps: UserDeps): Promise<boolean> {
  const { rehearse = 'off', autoApply } = record.plan.policy;
  const { review } = reviewed;
  if (!isEnd || rehearse === 'off' || review.isUnaudited || !hasQuestion(review)) return false;
  if (deps.interruption.by() !== undefined) return false;
  if (rehearse === 'always') return true;
  const { screen } = deps;
  return screen !== undefined && !autoApply && rehearserOf(record, deps) !== undefined
    ? askYesNo(screen, rehearseQuestion())
    : false;
}

function tellNotRehearsed({ tell }: UserDeps): false {
  const text = 'The changes were not rehearsed: this session has no layer that a rehearsal could write to.';
  tell({ kind: 'message', level: 'warning', text });
  return false;
}

/** A rehearsed command shows which file led there, and not that no other one takes part: all is held back. */
function chooseByPolicy(review: Review): Choice {
  const all = [...review.items.flatMap(({ findings }) => findings), ...review.general];
  const reason = leakOf(review) ?? all.find((one) => isRehearsed(one) && one.severity !== 'note');
  return reason === undefined ? chooseClean(review) : chooseHeld(review, reason.title);
}

function answerText({ decided, discard, chosen }: Choice): string {
  if (discard) return 'discard the changes';
  return decided ? `apply ${amount(chosen.length, 'files')}` : 'decide later';
}

/** Whether there is anything for the user to decide, or to see before the shell's prompt returns. */
function hasQuestion(review: Review): boolean {
  const asks = (state: string): boolean => state === 'suspect' || state === 'blocked';
  const isOpen = review.items.some(({ state }) => state === 'clean' || asks(state));
  const workspace = isOpen || review.decisions.some(({ isUnignored }) => isUnignored);
  return workspace || (review.claude?.items ?? []).some(({ state }) => asks(state));
}
