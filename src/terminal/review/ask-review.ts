import { createColors } from 'picocolors';
import { isConversation } from '../../review/claude-items.ts';
import { setName } from '../../review/file-sets.ts';
import { chooseAccepted, chooseNothing, isSelectable, type Picked } from '../../review/policy.ts';
import type { FileSet } from '../../types/file-set.ts';
import type { Choice, Decision, ReviewItem } from '../../types/review.ts';
import { askLine, isYes, waitForSilence } from '../ask.ts';
import { cleanLine } from '../clean.ts';
import { page } from '../pager.ts';
import { say } from '../say.ts';
import { askHeld } from './ask-held.ts';
import { changeList } from './change-list.ts';
import { decisionLines } from './decision-words.ts';
import { selectItems } from './select.ts';
import type { ReviewQuestion } from './show.ts';
import { itemLines } from './show.ts';
import { shortPath, summaryLines } from './summary.ts';

/**
 * Asks what to apply: the summary, then `[y/N/d/s/l/?]` until it is answered. `n`, Enter, Ctrl-C, end of input and
 * abort keep everything for later. Each suspect change is asked about by name. Preconditions: stdin and stderr are a
 * terminal.
 */
export async function askReview(question: ReviewQuestion): Promise<Choice> {
  const { review, screen } = question;
  printSummary(question);
  if (!(await waitForSilence(screen))) return chooseNothing(review);
  const message = `[sandbox] Apply changes to ${shortPath(question.project, question.home)}? [y/N/d/s/l/?]:`;
  for (;;) {
    const line = (await askLine(screen, message))?.trim();
    const [answer, folder] = wordsOf(line);
    switch (answer) {
      case 'y':
      case 'yes':
        return (await confirmMassDeletion(question)) ? applyClean(question) : chooseNothing(review);
      case undefined:
      case '':
      case 'n':
      case 'no':
        return chooseNothing(review);
      case 'd':
        await page(screen, await allDiffs(question));
        break;
      case 's': {
        const choice = await selectItems(question);
        if (choice !== undefined) return withClaude(question, choice);
        break;
      }
      case 'l':
        await page(screen, changeList(review, { colour: screen.colour, folder }));
        break;
      case 'discard':
        return { ...chooseNothing(review), decided: true, discard: true };
      case '?':
        say(screen, HELP);
        break;
      default:
        say(screen, [`'${cleanLine(answer)}' is not an answer here`, ...HELP]);
    }
  }
}

/** The answer in lower case, and the folder that follows an `l`. */
function wordsOf(line: string | undefined): [string | undefined, string?] {
  const folder = /^l\s+(.+)$/i.exec(line ?? '')?.[1];
  return folder === undefined ? [line?.toLowerCase()] : ['l', folder];
}

const HELP = [
  'y        apply what is clean, then ask for each suspect file',
  'n        keep everything for later (also Enter, Ctrl-C)',
  'd        show the differences',
  's        select files and parts of files',
  'l        list the changes; l FOLDER lists those below a folder',
  'discard  delete the changes (type the whole word)',
];

function printSummary({ review, screen }: ReviewQuestion): void {
  const colours = createColors(screen.colour);
  const paint = { info: (text: string) => text, note: colours.dim, suspect: colours.yellow, blocked: colours.red };
  say(
    screen,
    summaryLines(review).map(({ text, severity }) => paint[severity](text)),
  );
}

/** A mass deletion is confirmed by a word, so that a habitual y does not apply it. */
async function confirmMassDeletion({ review, screen }: ReviewQuestion): Promise<boolean> {
  const mass = review.massDeletion;
  if (mass === undefined) return true;
  const question = `[sandbox] This deletes ${mass.deleted} of ${mass.of} entries of the project. Type 'delete' to continue:`;
  return (await askLine(screen, question))?.trim() === 'delete';
}

async function applyClean(question: ReviewQuestion): Promise<Choice> {
  const { review } = question;
  const taken = await askSuspectDecisions(question);
  // After Ctrl-C or end of input no more questions follow, and no more changes are chosen.
  const held = taken.isWhole ? ((await askHeld(question)) ?? new Map<Decision, Picked>()) : new Map<Decision, Picked>();
  return withClaude(question, chooseAccepted(review, taken.decisions, held));
}

/** Text that a later Claude session obeys needs its own yes, like any other suspect change. */
async function withClaude(question: ReviewQuestion, choice: Choice): Promise<Choice> {
  const taken = await askSuspects(question, question.review.claude?.items ?? []);
  return { ...choice, claude: [...taken].map((item) => item.change.path) };
}

/** Each suspect decision with its reasons and diff; `isWhole` is false after Ctrl-C or end of input. */
async function askSuspectDecisions(
  question: ReviewQuestion,
): Promise<{ readonly decisions: ReadonlySet<Decision>; readonly isWhole: boolean }> {
  const taken = new Set<Decision>();
  const suspects = question.review.decisions.filter(({ state }) => state === 'suspect');
  for (const [at, decision] of suspects.entries()) {
    await page(question.screen, await decisionLines(question, decision));
    const answer = await askLine(question.screen, suspectMessage(decision.lead, at, suspects.length, decision.set));
    if (answer === undefined) return { decisions: taken, isWhole: false };
    if (isYes(answer)) taken.add(decision);
  }
  return { decisions: taken, isWhole: true };
}

/** Each suspect change with its reason and diff; only a y takes it. After Ctrl-C or end of input none of the rest is. */
export async function askSuspects(
  question: ReviewQuestion,
  items: readonly ReviewItem[],
): Promise<ReadonlySet<ReviewItem>> {
  const taken = new Set<ReviewItem>();
  const suspects = items.filter((item) => item.state === 'suspect');
  for (const [at, item] of suspects.entries()) {
    await page(question.screen, await itemLines(question, item));
    const answer = await askLine(question.screen, suspectMessage(item, at, suspects.length));
    if (answer === undefined) break;
    if (isYes(answer)) taken.add(item);
  }
  return taken;
}

function suspectMessage({ change, renamedFrom }: ReviewItem, at: number, of: number, set?: FileSet): string {
  const from = renamedFrom === undefined ? '' : ` (renamed from ${cleanLine(renamedFrom)})`;
  const count = of > 1 ? ` (${at + 1}/${of})` : '';
  const name = set === undefined ? change.path : setName(set);
  return `[sandbox] Apply suspect ${cleanLine(name)}${from}?${count} [y/N]:`;
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
