import { applyHunks } from '../review/hunks.ts';
import { choose, isDeletion, isSelectable, pathFilter } from '../review/policy.ts';
import { type Entry, HELD_BYTES } from '../types/entry.ts';
import type { Choice, ReviewItem } from '../types/review.ts';
import { askLine, isYes } from './ask.ts';
import { cleanLine } from './clean.ts';
import { runDifftool } from './difftool.ts';
import { page } from './pager.ts';
import { selectHunks } from './select-hunks.ts';
import type { ReviewQuestion } from './show.ts';
import { itemLines, loadDiff, loadFile, say } from './show.ts';

/** What was picked for one item: all of it, some bytes, or nothing. */
type Picked = 'all' | 'none' | { readonly content: Buffer };

/**
 * Goes through the changes one by one (like `git add -p`), deletions as a group at the end. Undefined at Ctrl-C or end
 * of input, and when the person takes the selection back: the question is asked again.
 */
export async function selectItems(question: ReviewQuestion): Promise<Choice | undefined> {
  const { review, screen } = question;
  const picked = new Map<ReviewItem, Picked>();
  const files = review.items.filter(
    (item) => isSelectable(item) && !isDeletion(item.change) && !isImplied(item, review.items),
  );
  const deletions = review.items.filter((item) => isSelectable(item) && isDeletion(item.change));
  if (!(await pickFiles(question, files, picked))) return undefined;
  if (!(await pickDeletions(question, deletions, picked))) return undefined;
  for (const item of review.items) if (isImplied(item, review.items)) picked.set(item, 'none');
  const chosen = [...picked].filter(([, pick]) => pick !== 'none').length;
  const answer = await askLine(
    screen,
    `[sandbox] Apply ${chosen} of ${files.length + deletions.length} changes? [y/N]:`,
  );
  if (!isYes(answer)) return undefined;
  return choose(review, (item) => {
    const pick = picked.get(item) ?? 'none';
    if (pick === 'none') return { verdict: 'skipped', why: 'not selected' };
    return pick === 'all' ? 'apply' : pick;
  });
}

/** A created folder with something in it comes with its content: no question of its own. */
function isImplied(item: ReviewItem, items: readonly ReviewItem[]): boolean {
  const { change } = item;
  if (change.kind !== 'created' || change.after?.kind !== 'dir') return false;
  return items.some((other) => other !== item && other.change.path.startsWith(`${change.path}/`));
}

const FILE_HELP = [
  'y  take this file          n  leave it',
  'h  choose parts of it      v  show it again',
  't  show it in $DIFFTOOL        g  take by pattern, as in src/**',
  'a  take this and all the clean ones after it',
  'q  leave this and all after it',
];

async function pickFiles(
  question: ReviewQuestion,
  items: readonly ReviewItem[],
  picked: Map<ReviewItem, Picked>,
): Promise<boolean> {
  const { screen } = question;
  for (let at = 0; at < items.length; ) {
    const item = items[at] as ReviewItem;
    if (picked.has(item)) {
      at += 1;
      continue;
    }
    await page(screen, await itemLines(question, item));
    const suspect = item.state === 'suspect' ? 'suspect ' : '';
    const message = `[sandbox] (${at + 1}/${items.length}) Take ${suspect}${cleanLine(item.change.path)}? [y,n,h,v,t,a,g,q,?]:`;
    const answer = (await askLine(screen, message))?.trim().toLowerCase();
    if (answer === undefined) return false;
    if (answer === 'y') picked.set(item, 'all');
    else if (answer === 'n') picked.set(item, 'none');
    else if (answer === 'h') await pickHunks(question, item, picked);
    else if (answer === 't') await showInDifftool(question, item);
    else if (answer === 'a') {
      // "all" is no yes to a suspect one except the one that is on the screen.
      for (const [index, other] of items.slice(at).entries()) {
        if (index === 0 || other.state === 'clean') picked.set(other, 'all');
      }
    } else if (answer === 'g') await pickByGlob(question, items, picked);
    else if (answer === 'q') for (const other of items.slice(at)) picked.set(other, picked.get(other) ?? 'none');
    else if (answer !== 'v') say(screen, FILE_HELP);
  }
  return true;
}

async function showInDifftool({ screen, content }: ReviewQuestion, { change }: ReviewItem): Promise<void> {
  const command = screen.env['DIFFTOOL'] ?? '';
  const sizes = [change.before, change.after].map((entry) => (entry?.kind === 'file' ? entry.size : 0));
  if (Math.max(...sizes) > HELD_BYTES) {
    say(screen, ['too large to be handed to a tool']);
    return;
  }
  const load = async (entry: Entry | undefined): Promise<Buffer> => (await loadFile(content, entry)) ?? Buffer.alloc(0);
  if (command.trim() === '') {
    say(screen, ['name your tool in DIFFTOOL, as in DIFFTOOL="vimdiff"']);
    return;
  }
  const status = await runDifftool(screen, command, await load(change.before), await load(change.after));
  if (status === 127) say(screen, ['that program is not there']);
}

async function pickHunks(question: ReviewQuestion, item: ReviewItem, picked: Map<ReviewItem, Picked>): Promise<void> {
  const diff = await loadDiff(question.content, item);
  if (diff.kind !== 'text' || diff.hunks.length === 0 || item.change.kind === 'type') {
    say(question.screen, ['this change has no parts: take it or leave it']);
    return;
  }
  const chosen = await selectHunks(question.screen, cleanLine(item.change.path), diff.hunks);
  if (chosen === undefined) return;
  if (chosen.length === 0) picked.set(item, 'none');
  else picked.set(item, { content: applyHunks(diff.before, chosen) });
}

async function pickByGlob(
  question: ReviewQuestion,
  items: readonly ReviewItem[],
  picked: Map<ReviewItem, Picked>,
): Promise<void> {
  const pattern = (await askLine(question.screen, '[sandbox] Take clean files that match:'))?.trim();
  if (!pattern) return;
  const matches = pathFilter({ only: [pattern], skip: [] });
  const taken = items.filter((item) => item.state === 'clean' && !picked.has(item) && matches(item.change.path));
  for (const item of taken) picked.set(item, 'all');
  say(question.screen, [`${taken.length} taken`]);
}

async function pickDeletions(
  question: ReviewQuestion,
  items: readonly ReviewItem[],
  picked: Map<ReviewItem, Picked>,
): Promise<boolean> {
  if (items.length === 0) return true;
  const { screen } = question;
  const what = items.length === 1 ? cleanLine((items[0] as ReviewItem).change.path) : `all ${items.length} deletions`;
  for (;;) {
    const answer = (await askLine(screen, `[sandbox] Delete ${what}? [y,n,l,e,?]:`))?.trim().toLowerCase();
    if (answer === undefined) return false;
    if (answer === 'l')
      await page(
        screen,
        items.map((item) => `- ${cleanLine(item.change.path)}`),
      );
    else if (answer === 'e') return pickFiles(question, items, picked);
    else if (answer === 'n' || answer === '') {
      for (const item of items) picked.set(item, 'none');
      return true;
    } else if (answer === 'y') {
      // A suspect deletion needs its own yes.
      for (const item of items) if (item.state === 'clean') picked.set(item, 'all');
      return pickFiles(
        question,
        items.filter((item) => item.state === 'suspect'),
        picked,
      );
    } else say(screen, ['y  delete all of them    n  keep them', 'l  list them             e  ask for each']);
  }
}
