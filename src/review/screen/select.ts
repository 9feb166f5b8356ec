import { MAX_IN_MEMORY_BYTES } from '../../core/text/in-memory.ts';
import type { Entry } from '../../core/types/entry.ts';
import type { Choice, Decision, Review, ReviewItem } from '../../core/types/review.ts';
import type { ChangeOutcome } from '../../core/types/session.ts';
import { ask, askYesNo } from '../../terminal/ask.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { page } from '../../terminal/pager.ts';
import { amount } from '../../terminal/progress.ts';
import { say } from '../../terminal/say.ts';
import { countProgress, type FileProgress, fileProgress, IN_PART } from '../choices/file-progress.ts';
import { applyHunks } from '../choices/hunks.ts';
import {
  chooseSelected,
  filledFolders,
  isDeletion,
  isSelectable,
  LEFT,
  type Picked,
  pathFilter,
} from '../choices/policy.ts';
import { askHeld } from './ask/ask-held.ts';
import { decisionLines, decisionWords } from './decision-words.ts';
import { runDifftool } from './diff/difftool.ts';
import type { ReviewQuestion } from './diff/show.ts';
import { loadDiff, loadFile } from './diff/show.ts';
import { blockedLines } from './outcome-lines.ts';
import { deletionsQuestion, fileQuestion, selectionQuestion } from './questions.ts';
import { selectHunks } from './select-hunks.ts';

/**
 * Asks about the decisions one by one (like `git add -p`), about deletions as a group at the end. Undefined at Ctrl-C or
 * end of input, when nothing is selected, and when the user rejects the selection: the question is asked again.
 */
export async function selectItems(question: ReviewQuestion): Promise<Choice | undefined> {
  const { review, screen } = question;
  const picked = new Map<Decision, Picked>();
  const open = review.decisions.filter(isSelectable);
  const isFilled = filledFolders(review);
  const files = open.filter((one) => !isDeletion(one.lead.change) && !isFilled(one));
  const deletions = open.filter((one) => isDeletion(one.lead.change));
  const end = await pickFiles(question, files, picked);
  if (end === 'interrupted') return undefined;
  if (end === 'left') for (const one of deletions) picked.set(one, LEFT);
  else if (!(await pickDeletions(question, deletions, picked))) return undefined;
  const held = end === 'left' ? new Map<Decision, Picked>() : await askHeld(question);
  if (held === undefined) return undefined;
  const choice = chooseSelected(review, new Map([...picked, ...held]));
  if (choice.chosen.length === 0) {
    say(screen, ['Nothing is selected, so that nothing is applied.']);
    return undefined;
  }
  const selected = selectedFiles(review, choice);
  say(screen, blockedLines(selected));
  const { applied, inPart, left, blocked, total } = countProgress(selected);
  const words = [
    ...(inPart > 0 ? [`${inPart} in part`] : []),
    ...(left > inPart ? [`${left - inPart} left`] : []),
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
  ].join(', ');
  return (await askYesNo(screen, selectionQuestion(applied + inPart, total, words))) ? choice : undefined;
}

/** What would become of each file: the count that the apply prints, before it is made. */
function selectedFiles(review: Review, { chosen, left }: Choice): readonly FileProgress[] {
  const applied = chosen.map(({ change: { path }, content }): ChangeOutcome => {
    return { path, verdict: 'applied', ...(content !== undefined && { why: IN_PART }) };
  });
  return fileProgress(review, [...left, ...applied]);
}

/** `left`: the user leaves everything that follows. */
type End = 'done' | 'left' | 'interrupted';

async function pickFiles(
  question: ReviewQuestion,
  decisions: readonly Decision[],
  picked: Map<Decision, Picked>,
): Promise<End> {
  const { screen } = question;
  for (let at = 0; at < decisions.length; ) {
    const decision = decisions[at] as Decision;
    if (picked.has(decision)) {
      at += 1;
      continue;
    }
    await page(screen, await decisionLines(question, decision));
    const answer = await ask(screen, fileQuestion(decisionWords(decision), at + 1, decisions.length));
    if (answer === undefined) return 'interrupted';
    const { key } = answer;
    if (key === 'y') picked.set(decision, 'apply');
    else if (key === 'n') picked.set(decision, LEFT);
    else if (key === 'h') await pickHunks(question, decision, picked);
    else if (key === 't') await showInDifftool(question, decision.lead);
    else if (key === 'a') {
      // "all" does not accept suspect changes, except the one on the screen.
      for (const [index, other] of decisions.slice(at).entries()) {
        if (index === 0 || other.state === 'clean') picked.set(other, picked.get(other) ?? 'apply');
      }
    } else if (key === 'g') pickByGlob(question, answer.rest, decisions, picked);
    else if (key === 'q') {
      for (const other of decisions.slice(at)) picked.set(other, picked.get(other) ?? LEFT);
      return 'left';
    }
  }
  return 'done';
}

async function showInDifftool({ screen, content }: ReviewQuestion, item: ReviewItem): Promise<void> {
  const command = screen.env['DIFFTOOL'] ?? '';
  const { before = item.renamedEntry, after } = item.change;
  const sizes = [before, after].map((entry) => (entry?.kind === 'file' ? entry.size : 0));
  if (sizes.some((size) => size > MAX_IN_MEMORY_BYTES)) {
    say(screen, ['This change is too large for a difftool.']);
    return;
  }
  const load = async (entry: Entry | undefined): Promise<Buffer> => (await loadFile(content, entry)) ?? Buffer.alloc(0);
  if (command.trim() === '') {
    say(screen, ['No difftool is set. Set DIFFTOOL, for example DIFFTOOL="vimdiff".']);
    return;
  }
  const status = await runDifftool(screen, command, await load(before), await load(after));
  if (status === 127) say(screen, ['The program in DIFFTOOL was not found.']);
}

/** For a rename the new name gets the chosen parts and the old name is deleted: one decision. */
async function pickHunks(question: ReviewQuestion, decision: Decision, picked: Map<Decision, Picked>): Promise<void> {
  const { lead, items } = decision;
  const diff = await loadDiff(question.content, lead);
  const isPlain = items.length === (lead.renamedFrom === undefined ? 1 : 2) && lead.change.kind !== 'type';
  if (diff.kind !== 'text' || diff.hunks.length === 0 || !isPlain) {
    say(question.screen, ['This change has no parts. Take it or leave it.']);
    return;
  }
  const chosen = await selectHunks(question.screen, cleanLine(lead.change.path), diff.hunks);
  if (chosen === undefined) return;
  const content = applyHunks(diff.before, chosen);
  if (chosen.length === 0) picked.set(decision, LEFT);
  // All parts are the whole change, with its mode.
  else picked.set(decision, content.equals(applyHunks(diff.before, diff.hunks)) ? 'apply' : { content });
}

/** Takes the clean decisions that have no answer yet and whose name matches. */
function pickByGlob(
  { screen }: ReviewQuestion,
  pattern: string,
  decisions: readonly Decision[],
  picked: Map<Decision, Picked>,
): void {
  if (pattern === '') {
    say(screen, ['Type a pattern behind g, as in g src/**']);
    return;
  }
  const matches = pathFilter({ only: [pattern], skip: [] });
  const taken = decisions.filter((one) => one.state === 'clean' && !picked.has(one) && matches(one.lead.change.path));
  for (const one of taken) picked.set(one, 'apply');
  say(screen, [
    `Selected ${amount(taken.length, 'files')} that ${taken.length === 1 ? 'matches' : 'match'} the pattern`,
  ]);
}

async function pickDeletions(
  question: ReviewQuestion,
  decisions: readonly Decision[],
  picked: Map<Decision, Picked>,
): Promise<boolean> {
  if (decisions.length === 0) return true;
  const { screen } = question;
  const names = decisions.map(({ lead }) => cleanLine(lead.change.path));
  const hasFolders = decisions.some(({ items }) => items.some(({ change }) => change.before?.kind === 'dir'));
  const asked = deletionsQuestion(names, hasFolders);
  for (;;) {
    const answer = await ask(screen, asked);
    switch (answer?.key) {
      case undefined:
        return false;
      case 'l':
        await page(
          screen,
          names.map((name) => `- ${name}`),
        );
        break;
      case 'e':
        return (await pickFiles(question, decisions, picked)) !== 'interrupted';
      case 'n':
        for (const one of decisions) picked.set(one, LEFT);
        return true;
      case 'y': {
        // Each suspect deletion needs its own yes.
        for (const one of decisions) if (one.state === 'clean') picked.set(one, 'apply');
        const suspects = decisions.filter(({ state }) => state === 'suspect');
        return (await pickFiles(question, suspects, picked)) !== 'interrupted';
      }
    }
  }
}
