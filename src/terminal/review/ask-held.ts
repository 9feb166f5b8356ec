import { heldRemoval } from '../../review/decisions.ts';
import type { Picked } from '../../review/policy.ts';
import type { Decision } from '../../types/review.ts';
import { askLine, isYes } from '../ask.ts';
import { askKey } from '../ask-key.ts';
import { cleanLine } from '../clean.ts';
import { page } from '../pager.ts';
import { decisionLines, unignoredWords } from './decision-words.ts';
import type { ReviewQuestion } from './show.ts';

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
    const names = removed.map(({ change }) => cleanLine(change.path)).join(', ');
    const where = contentIn === undefined ? 'a withheld file' : `${cleanLine(contentIn)}, which is withheld`;
    const message = `[sandbox] ${kind === 'delete' ? 'Delete' : 'Replace'} ${names}? What it held is only in ${where}. [y/N]:`;
    const answer = await askLine(question.screen, message);
    if (answer === undefined) return undefined;
    let isTaken = isYes(answer);
    if (isTaken && kind === 'replace' && applied.some(({ state }) => state === 'suspect')) {
      const isAccepted = await askSuspect(question, decision);
      if (isAccepted === undefined) return undefined;
      isTaken = isAccepted;
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
    const answer = await askKey(screen, {
      question: `Apply ${unignoredWords(items)} that your ignore rules match and the session un-ignores`,
      keys: ['y', 'n', 'd', 'l'],
      help: ['y  apply them          n  leave them', 'd  show them           l  list them'],
      onEnter: 'n',
      shown: { n: 'N' },
    });
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
  for (const decision of group) {
    const isSuspect = decision.items.some(({ state, unignored }) => state === 'suspect' || unignored === 'suspect');
    if (!isSuspect) picked.set(decision, 'apply');
    else {
      const isAccepted = await askSuspect(question, decision);
      if (isAccepted === undefined) return false;
      if (isAccepted) picked.set(decision, 'apply');
    }
  }
  return true;
}

/** Shows a decision and asks for it. Undefined at Ctrl-C and at end of input. */
async function askSuspect(question: ReviewQuestion, decision: Decision): Promise<boolean | undefined> {
  const { screen } = question;
  await page(screen, await decisionLines(question, decision));
  const answer = await askLine(screen, `[sandbox] Apply suspect ${cleanLine(decision.lead.change.path)}? [y/N]:`);
  return answer === undefined ? undefined : isYes(answer);
}
