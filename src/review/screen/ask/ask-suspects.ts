import type { Decision, ReviewItem } from '../../../core/types/review.ts';
import { ask } from '../../../terminal/ask.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import { page } from '../../../terminal/pager.ts';
import { setName } from '../../choices/file-sets.ts';
import { decisionLines } from '../decision-words.ts';
import { itemLines, type ReviewQuestion } from '../diff/show.ts';
import { suspectQuestion } from '../questions.ts';

/** The suspect decisions that get a yes by name; `isWhole` is false after Ctrl-C or end of input: none of the rest has one. */
interface Accepted<T> {
  readonly taken: ReadonlySet<T>;
  readonly isWhole: boolean;
}

/** Shows each suspect decision with its reasons and diff, and asks for it. */
export function askSuspectDecisions(
  question: ReviewQuestion,
  decisions: readonly Decision[],
): Promise<Accepted<Decision>> {
  return askEach(question, decisions, async (decision) => ({
    lines: await decisionLines(question, decision),
    name: decision.set === undefined ? decision.lead.change.path : setName(decision.set),
    lead: decision.lead,
  }));
}

/** The suspect files of Claude's own data that get a yes by name. */
export async function askSuspects(
  question: ReviewQuestion,
  items: readonly ReviewItem[],
): Promise<ReadonlySet<ReviewItem>> {
  const suspects = items.filter(({ state }) => state === 'suspect');
  const { taken } = await askEach(question, suspects, async (item) => ({
    lines: await itemLines(question, item),
    name: item.change.path,
    lead: item,
  }));
  return taken;
}

interface Shown {
  readonly lines: readonly string[];
  readonly name: string;
  readonly lead: ReviewItem;
}

async function askEach<T>(
  { screen }: ReviewQuestion,
  all: readonly T[],
  show: (one: T) => Promise<Shown>,
): Promise<Accepted<T>> {
  const taken = new Set<T>();
  for (const [index, one] of all.entries()) {
    const { lines, name, lead } = await show(one);
    await page(screen, lines);
    const renamedFrom = lead.renamedFrom === undefined ? undefined : cleanLine(lead.renamedFrom);
    const asked = suspectQuestion({ name: cleanLine(name), renamedFrom, at: index + 1, of: all.length });
    const answer = await ask(screen, asked);
    if (answer === undefined) return { taken, isWhole: false };
    if (answer.key === 'y') taken.add(one);
  }
  return { taken, isWhole: true };
}
