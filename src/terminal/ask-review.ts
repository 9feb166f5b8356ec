import { createColors } from 'picocolors';
import { isConversation } from '../review/claude-items.ts';
import { chooseNothing, chooseWhole, isDeletion, isSelectable } from '../review/policy.ts';
import type { Choice, ReviewItem } from '../types/review.ts';
import { askLine, isYes, waitForSilence } from './ask.ts';
import { cleanLine } from './clean.ts';
import { page } from './pager.ts';
import { selectItems } from './select.ts';
import type { ReviewQuestion } from './show.ts';
import { itemLines, say } from './show.ts';
import { shortPath, summaryLines } from './summary.ts';

/**
 * The question at the end: summary, then `[y/N/d/s/l/?]` until it is answered. `n`, Enter, Ctrl-C, end of input and
 * abort keep everything for later. Asks for each suspect change by name. Preconditions: stdin and stderr are a terminal.
 */
export async function askReview(question: ReviewQuestion): Promise<Choice> {
  const { review, screen } = question;
  printSummary(question);
  if (!(await waitForSilence(screen))) return chooseNothing(review);
  const message = `[sandbox] Apply changes to ${shortPath(question.project, question.home)}? [y/N/d/s/l/?]:`;
  for (;;) {
    const answer = (await askLine(screen, message))?.trim().toLowerCase();
    switch (answer) {
      case 'y':
      case 'yes':
        return (await confirmMass(question)) ? applyClean(question) : chooseNothing(review);
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
        await page(screen, listLines(question));
        break;
      case 'discard':
        return { ...chooseNothing(review), decided: true, discard: true };
      case '?':
        say(screen, HELP);
        break;
      default:
        say(screen, [`'${cleanLine(answer)}' is no answer here`, ...HELP]);
    }
  }
}

const HELP = [
  'y        apply what is clean, then ask for each suspect file',
  'n        keep everything for later (also Enter, Ctrl-C)',
  'd        show the differences',
  's        select files and parts of files',
  'l        list the changes',
  'discard  throw the changes away (the whole word)',
];

function printSummary({ review, screen }: ReviewQuestion): void {
  const colours = createColors(screen.colour);
  const paint = { info: (text: string) => text, note: colours.dim, suspect: colours.yellow, blocked: colours.red };
  say(
    screen,
    summaryLines(review).map(({ text, severity }) => paint[severity](text)),
  );
}

/** A mass deletion takes its own word, so that no habit of typing y applies it. */
async function confirmMass({ review, screen }: ReviewQuestion): Promise<boolean> {
  const mass = review.massDeletion;
  if (mass === undefined) return true;
  const question = `[sandbox] This deletes ${mass.deleted} of ${mass.of} entries of the project. Type 'delete' to go on:`;
  return (await askLine(screen, question))?.trim() === 'delete';
}

async function applyClean(question: ReviewQuestion): Promise<Choice> {
  const taken = await askSuspects(question, question.review.items);
  const choice = chooseWhole(question.review, (item) => {
    if (item.state !== 'suspect' || taken.has(item)) return 'apply';
    return { verdict: 'suspect', why: 'not accepted' };
  });
  return withClaude(question, choice);
}

/** Text of Claude's data that a later session obeys needs a yes of its own, like any other suspect. */
async function withClaude(question: ReviewQuestion, choice: Choice): Promise<Choice> {
  const taken = await askSuspects(question, question.review.claude?.items ?? []);
  return { ...choice, claude: [...taken].map((item) => item.change.path) };
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
    const count = suspects.length > 1 ? ` (${at + 1}/${suspects.length})` : '';
    const message = `[sandbox] Apply suspect ${cleanLine(item.change.path)}?${count} [y/N]:`;
    const answer = await askLine(question.screen, message);
    if (answer === undefined) break;
    if (isYes(answer)) taken.add(item);
  }
  return taken;
}

async function allDiffs(question: ReviewQuestion): Promise<string[]> {
  const lines: string[] = [];
  const shown = question.review.items.filter((item) => isSelectable(item) || item.state === 'blocked');
  // Conversations are named in the list; as a diff they are lines of JSON that hide the rest.
  const claude = (question.review.claude?.items ?? []).filter((item) => !isConversation(item));
  for (const item of [...shown, ...claude]) lines.push(...(await itemLines(question, item)), '');
  return lines;
}

/** One line a change; deletions last, as a group of their own. */
function listLines({ review, screen }: ReviewQuestion): string[] {
  const colours = createColors(screen.colour);
  const signs = { created: '+', modified: '~', deleted: '-', mode: 'm', type: 't' } as const;
  const line = (item: ReviewItem): string => {
    const { change, state } = item;
    const from = item.renamedFrom === undefined ? '' : ` (from ${cleanLine(item.renamedFrom)})`;
    const mark = state === 'clean' ? '' : `  ${state.toUpperCase()}`;
    const text = `${signs[change.kind]} ${cleanLine(change.path)}${from}${mark}`;
    return state === 'blocked' ? colours.red(text) : state === 'suspect' ? colours.yellow(text) : text;
  };
  const shown = review.items.filter((item) => item.state !== 'git' && item.state !== 'withheld');
  const deletions = shown.filter((item) => isDeletion(item.change));
  const claude = review.claude?.items ?? [];
  return [
    ...shown.filter((item) => !isDeletion(item.change)).map(line),
    ...(claude.length === 0 ? [] : ['', "Claude's data:", ...claude.map(line)]),
    ...(deletions.length === 0 ? [] : ['', `deletions (${deletions.length}):`, ...deletions.map(line)]),
  ];
}
