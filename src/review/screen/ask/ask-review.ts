import { createColors } from 'picocolors';
import type { Choice, Decision } from '../../../core/types/review.ts';
import { ask } from '../../../terminal/ask.ts';
import { page } from '../../../terminal/pager.ts';
import { say } from '../../../terminal/say.ts';
import { isConversation } from '../../choices/claude-items.ts';
import { chooseAccepted, chooseNothing, isSelectable, type Picked } from '../../choices/policy.ts';
import { changeList } from '../change-list.ts';
import type { ReviewQuestion } from '../diff/show.ts';
import { itemLines } from '../diff/show.ts';
import { applyQuestion, massDeletionQuestion } from '../questions.ts';
import { selectItems } from '../select.ts';
import { shortPath, summaryLines } from '../summary.ts';
import { askHeld } from './ask-held.ts';
import { askSuspectDecisions, askSuspects } from './ask-suspects.ts';

/**
 * Asks what to apply: the summary, then `[y/N/d/s/l/r/?]` until it is answered. `n`, Enter, Ctrl-C, end of input and
 * abort keep everything for later. Each suspect change is asked about by name. Preconditions: stdin and stderr are a
 * terminal.
 */
export async function askReview(given: ReviewQuestion): Promise<Choice> {
  let question = given;
  const { screen, rehearse } = given;
  printSummary(question);
  const asked = applyQuestion(shortPath(question.project, question.home), rehearse !== undefined);
  for (let isFirst = true; ; isFirst = false) {
    // What was typed for the agent must not answer.
    const answer = await ask(screen, { ...asked, waitsForSilence: isFirst });
    const { review } = question;
    switch (answer?.key) {
      case 'y':
        return (await confirmMassDeletion(question)) ? applyClean(question) : chooseNothing(review);
      case undefined:
      case 'n':
        return chooseNothing(review);
      case 'd':
        await page(screen, await allDiffs(question));
        break;
      case 's': {
        const choice = await selectItems(question);
        if (choice !== undefined) return withClaude(question, choice);
        break;
      }
      case 'l': {
        const folder = answer?.rest === '' ? undefined : answer?.rest;
        await page(screen, changeList(review, { colour: screen.colour, folder }));
        break;
      }
      case 'r':
        if (rehearse === undefined) break;
        question = { ...question, review: await rehearse() };
        printSummary(question);
        break;
      case 'discard':
        return { ...chooseNothing(review), decided: true, discard: true };
    }
  }
}

function printSummary({ review, screen, importWith }: ReviewQuestion): void {
  const colours = createColors(screen.colour);
  const paint = { info: (text: string) => text, note: colours.dim, suspect: colours.yellow, blocked: colours.red };
  say(
    screen,
    summaryLines(review, undefined, importWith).map(({ text, severity }) =>
      text.split('\n').map(paint[severity]).join('\n'),
    ),
  );
}

async function confirmMassDeletion({ review, screen }: ReviewQuestion): Promise<boolean> {
  const mass = review.massDeletion;
  return mass === undefined || (await ask(screen, massDeletionQuestion(mass)))?.key === 'delete';
}

async function applyClean(question: ReviewQuestion): Promise<Choice> {
  const { review } = question;
  const suspects = review.decisions.filter(({ state }) => state === 'suspect');
  const { taken, isWhole } = await askSuspectDecisions(question, suspects);
  // After Ctrl-C or end of input no more questions follow, and no more changes are chosen.
  const held = isWhole ? ((await askHeld(question)) ?? new Map<Decision, Picked>()) : new Map<Decision, Picked>();
  return withClaude(question, chooseAccepted(review, taken, held));
}

/** Text that a later Claude session obeys needs its own yes, like any other suspect change. */
async function withClaude(question: ReviewQuestion, choice: Choice): Promise<Choice> {
  const taken = await askSuspects(question, question.review.claude?.items ?? []);
  return { ...choice, claude: [...taken].map((item) => item.change.path) };
}

async function allDiffs(question: ReviewQuestion): Promise<string[]> {
  const lines: string[] = [];
  const shown = question.review.items.filter(
    (item) => item.renamedTo === undefined && (isSelectable(item) || item.state === 'blocked'),
  );
  // Conversations are named in the list. Their diffs are lines of JSON, which would hide the rest.
  const claude = (question.review.claude?.items ?? []).filter((item) => !isConversation(item));
  for (const item of [...shown, ...claude])
    for (const line of [...(await itemLines(question, item)), '']) lines.push(line);
  return lines;
}
