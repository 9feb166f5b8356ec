import type { Decision } from '../../../core/types/review.ts';
import { ask } from '../../../terminal/ask.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import { page } from '../../../terminal/pager.ts';
import { heldRemoval } from '../../choices/decisions.ts';
import type { Picked } from '../../choices/policy.ts';
import { decisionLines, unignoredWords } from '../decision-words.ts';
import type { ReviewQuestion } from '../diff/show.ts';
import { removalQuestion, unignoredQuestion } from '../questions.ts';
import { askSuspectDecisions } from './ask-suspects.ts';

/**
 * Asks for what the gate holds back although nothing in it is blocked: files that the session un-ignores, as one group,
 * and deleted or replaced files whose content is left under a withheld name only. What gets no yes is held back. Undefined at Ctrl-C
 * and at end of input.
 */
export async function askHeld(question: ReviewQuestion): Promise<ReadonlyMap<Decision, Picked> | undefined> {
  const { decisions } = question.review;
  const picked = new Map<Decision, Picked>();
  const group = decisions.filter(({ isUnignored }) => isUnignored);
  if (group.length > 0 && !(await askUnignored(question, group, picked))) return undefined;
  for (const decision of decisions) {
    const removal = heldRemoval(decision);
    if (removal === undefined) continue;
    const { kind, removed, applied, contentIn } = removal;
    const words = {
      kind,
      names: removed.map(({ change }) => cleanLine(change.path)).join(', '),
      contentIn: contentIn === undefined ? undefined : cleanLine(contentIn),
    };
    const answer = await ask(question.screen, removalQuestion(words));
    if (answer === undefined) return undefined;
    let isTaken = answer.key === 'y';
    if (isTaken && kind === 'replace' && applied.some(({ state }) => state === 'suspect')) {
      const { taken, isWhole } = await askSuspectDecisions(question, [decision]);
      if (!isWhole) return undefined;
      isTaken = taken.has(decision);
    }
    picked.set(decision, isTaken ? 'delete' : 'hold');
  }
  return picked;
}

async function askUnignored(
  question: ReviewQuestion,
  group: readonly Decision[],
  picked: Map<Decision, Picked>,
): Promise<boolean> {
  const { screen } = question;
  const items = group.flatMap((decision) => decision.items.filter(({ unignored }) => unignored !== undefined));
  for (;;) {
    const answer = await ask(screen, unignoredQuestion(unignoredWords(items)));
    if (answer === undefined) return false;
    if (answer.key === 'y') break;
    if (answer.key === 'n') return true;
    if (answer.key === 'l')
      await page(
        screen,
        items.map(({ change }) => `+ ${cleanLine(change.path)}`),
      );
    else {
      const lines: string[] = [];
      for (const decision of group)
        for (const line of [...(await decisionLines(question, decision)), '']) lines.push(line);
      await page(screen, lines);
    }
  }
  const isSuspect = ({ items: all }: Decision): boolean =>
    all.some(({ state, unignored }) => state === 'suspect' || unignored === 'suspect');
  const { taken, isWhole } = await askSuspectDecisions(question, group.filter(isSuspect));
  if (!isWhole) return false;
  for (const decision of group) if (!isSuspect(decision) || taken.has(decision)) picked.set(decision, 'apply');
  return true;
}
