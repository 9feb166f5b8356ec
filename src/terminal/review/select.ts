import { applyHunks } from '../../review/hunks.ts';
import {
  chooseSelected,
  filledFolders,
  isDeletion,
  isSelectable,
  LEFT,
  type Picked,
  pathFilter,
} from '../../review/policy.ts';
import { MAX_IN_MEMORY_BYTES } from '../../text/in-memory.ts';
import type { Entry } from '../../types/entry.ts';
import type { Choice, Decision, ReviewItem } from '../../types/review.ts';
import { askLine, isYes } from '../ask.ts';
import { askKey } from '../ask-key.ts';
import { cleanLine } from '../clean.ts';
import { page } from '../pager.ts';
import { say } from '../say.ts';
import { askHeld } from './ask-held.ts';
import { decisionLines, decisionWords } from './decision-words.ts';
import { runDifftool } from './difftool.ts';
import { selectHunks } from './select-hunks.ts';
import type { ReviewQuestion } from './show.ts';
import { loadDiff, loadFile } from './show.ts';

/**
 * Asks about the decisions one by one (like `git add -p`), about deletions as a group at the end. Undefined at Ctrl-C or
 * end of input, and when the user rejects the selection: the question is asked again.
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
  const taken = [...picked.values(), ...held.values()].filter((pick) => pick !== LEFT && pick !== 'hold').length;
  const all = files.length + deletions.length + held.size;
  const answer = await askLine(screen, `[sandbox] Apply ${taken} of ${all} changes? [y/N]:`);
  if (!isYes(answer)) return undefined;
  return chooseSelected(review, new Map([...picked, ...held]));
}

const FILE_HELP = [
  'y  take this file          n  leave it',
  'h  choose parts of it      v  show it again',
  't  show it in $DIFFTOOL        g  take by pattern, as in src/**',
  'a  take this and all the clean ones after it',
  'q  leave this and all after it, deletions too',
];

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
    const answer = await askKey(screen, {
      question: `(${at + 1}/${decisions.length}) ${decisionWords(decision)}`,
      keys: ['y', 'n', 'h', 'v', 't', 'a', 'g', 'q'],
      help: FILE_HELP,
    });
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
    } else if (key === 'g') await pickByGlob(question, decisions, picked);
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
  if (chosen.length === 0) picked.set(decision, LEFT);
  else picked.set(decision, { content: applyHunks(diff.before, chosen) });
}

async function pickByGlob(
  question: ReviewQuestion,
  decisions: readonly Decision[],
  picked: Map<Decision, Picked>,
): Promise<void> {
  const pattern = (await askLine(question.screen, '[sandbox] Take clean files that match:'))?.trim();
  if (!pattern) return;
  const matches = pathFilter({ only: [pattern], skip: [] });
  const taken = decisions.filter((one) => one.state === 'clean' && !picked.has(one) && matches(one.lead.change.path));
  for (const one of taken) picked.set(one, 'apply');
  say(question.screen, [`Selected ${taken.length} files`]);
}

async function pickDeletions(
  question: ReviewQuestion,
  decisions: readonly Decision[],
  picked: Map<Decision, Picked>,
): Promise<boolean> {
  if (decisions.length === 0) return true;
  const { screen } = question;
  const names = decisions.map(({ lead }) => cleanLine(lead.change.path));
  const what = names.length === 1 ? names[0] : `all ${names.length} deletions`;
  for (;;) {
    const answer = await askKey(screen, {
      question: `Delete ${what}`,
      keys: ['y', 'n', 'l', 'e'],
      help: ['y  delete all of them    n  keep them', 'l  list them             e  ask for each'],
      onEnter: 'n',
    });
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
