import { ask } from '../../terminal/ask.ts';
import { cleanText } from '../../terminal/clean.ts';
import { editText } from '../../terminal/edit.ts';
import { page } from '../../terminal/pager.ts';
import { say } from '../../terminal/say.ts';
import type { Screen } from '../../terminal/screen.ts';
import type { Hunk } from '../choices/file-diff.ts';
import { hunkText, parseEditedHunk, splitHunk } from '../choices/hunks.ts';
import { hunkLines } from './diff/diff-view.ts';
import { partQuestion } from './questions.ts';

/** The parts of one file that the user chooses, in order; undefined at Ctrl-C or end of input. `name` must be cleaned. */
export async function selectHunks(
  screen: Screen,
  name: string,
  hunks: readonly Hunk[],
): Promise<readonly Hunk[] | undefined> {
  let queue = [...hunks];
  const chosen: Hunk[] = [];
  for (let at = 0; at < queue.length; ) {
    const hunk = queue[at] as Hunk;
    await page(screen, hunkLines(hunk, { colour: screen.colour, columns: screen.stderr.columns ?? 80 }));
    const parts = splitHunk(hunk);
    const answer = await ask(screen, partQuestion(name, at + 1, queue.length, parts.length > 1));
    if (answer === undefined) return undefined;
    const { key } = answer;
    if (key === 'y') {
      chosen.push(hunk);
      at += 1;
    } else if (key === 'n') at += 1;
    else if (key === 'a') return [...chosen, ...queue.slice(at)];
    else if (key === 'd') return chosen;
    else if (key === 's') queue = [...queue.slice(0, at), ...parts, ...queue.slice(at + 1)];
    else if (key === 'e') {
      const edited = await editHunk(screen, hunk);
      if (edited !== undefined) {
        chosen.push(edited);
        at += 1;
      }
    }
  }
  return chosen;
}

async function editHunk(screen: Screen, hunk: Hunk): Promise<Hunk | undefined> {
  const text = hunkText(hunk);
  if (cleanText(text) !== text) {
    say(screen, ['This part has characters that cannot be edited safely. Take it or leave it.']);
    return undefined;
  }
  const edited = await editText(screen, text, [
    "Change '+' lines as you like, or remove them.",
    "To keep a line that is removed, make its '-' a blank.",
    'Lines that begin with # are dropped. An empty file changes nothing.',
  ]);
  if (edited === undefined) return undefined;
  const parsed = parseEditedHunk(hunk, edited);
  if (typeof parsed !== 'string') return parsed;
  say(screen, [`The edited part does not fit: ${cleanText(parsed)}`]);
  return undefined;
}
