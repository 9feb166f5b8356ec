import { cleanLine } from '../../terminal/clean.ts';
import { amount } from '../../terminal/progress.ts';
import { countProgress, type FileProgress, isApplied, isLeft, type ProgressCounts } from '../choices/file-progress.ts';
import { blockedReason } from '../choices/policy.ts';

// Sentences about what is applied and what is left: the same in every view.

/** More files are only counted. */
const MAX_NAMED = 10;

/**
 * '3 of 5 files are applied (today 14:03), 1 of them in part, 2 are left'. `when` is the time of the last apply. `isDiscarded`:
 * what is left was discarded with the session.
 */
export function progressLine(
  { total, applied, left, inPart, blocked }: ProgressCounts,
  when: string | undefined,
  isDiscarded = false,
): string {
  const [done, open] = [applied + inPart, left - inPart];
  const what = done === total ? amount(total, 'files') : `${done} of ${amount(total, 'files')}`;
  const parts = [`${what} ${are(total === 1 ? 1 : done)} applied${when === undefined ? '' : ` (${when})`}`];
  if (inPart > 0) parts.push(inPartWords(inPart));
  if (open > 0)
    parts.push(isDiscarded ? `${open} ${open === 1 ? 'was' : 'were'} discarded` : `${open} ${are(open)} left`);
  if (blocked > 0) parts.push(`${blocked} ${are(blocked)} blocked`);
  return parts.join(', ');
}

/**
 * What one apply did: 'Applied 2 of 5 files, 1 of them in part; 1 was in the project already.' `files` are those that it
 * was about. `verb`: 'Applied', 'Would apply'. `place`: where they are applied to.
 */
export function resultLine(files: readonly FileProgress[], verb: string, place: string): string {
  const same = files.filter(({ verdict }) => verdict === 'same').length;
  const { inPart } = countProgress(files);
  const applied = files.filter(({ verdict }) => verdict === 'applied').length + inPart;
  const parts = inPart === 0 ? '' : `, ${inPartWords(inPart)}`;
  const already = same === 0 ? '' : `; ${same} ${same === 1 ? 'was' : 'were'} ${place} already`;
  return `${verb} ${applied} of ${amount(files.length, 'files')}${parts}${already}.`;
}

/**
 * Each file that is left with the reason, at most ten; then how many more. Conflicts of one reason, such as those of an open
 * database, are one line. Without prefix, cleaned.
 */
export function leftLines(files: readonly FileProgress[]): string[] {
  const left = files.filter(isLeft);
  const groups = new Map<string, { readonly reason: string; readonly names: string[] }>();
  for (const file of left.slice(0, MAX_NAMED)) {
    const reason = reasonOf(file);
    const key = file.verdict === 'conflict' ? reason : `${reason}\0${nameOf(file)}`;
    const group = groups.get(key) ?? { reason, names: [] };
    groups.set(key, { ...group, names: [...group.names, nameOf(file)] });
  }
  const lines = [...groups.values()].map(({ reason, names }) => `left: ${names.join(', ')} (${reason})`);
  const more = left.length - MAX_NAMED;
  return more > 0 ? [...lines, `left: ${more} more`] : lines;
}

/** Each file that is never applied with the reason, at most ten; then how many more. Cleaned. */
export function blockedLines(files: readonly FileProgress[]): string[] {
  const blocked = files.filter(({ verdict }) => verdict === 'blocked');
  const lines = blocked.slice(0, MAX_NAMED).map(({ item }) => {
    return `blocked: ${cleanLine(item.change.path)} (${cleanLine(blockedReason(item))})`;
  });
  const more = blocked.length - MAX_NAMED;
  return more > 0 ? [...lines, `blocked: ${more} more`] : lines;
}

/** Each file that is applied, at most ten; then how many more. Cleaned. */
export function appliedLines(files: readonly FileProgress[]): string[] {
  const done = files.filter(isApplied);
  const lines = done.slice(0, MAX_NAMED).map((file) => `applied: ${nameOf(file)}`);
  const more = done.length - MAX_NAMED;
  return more > 0 ? [...lines, `applied: ${more} more`] : lines;
}

/**
 * How to accept suspect files without a terminal: 'Suspect changes need a yes: on a terminal, or with
 * run-claude apply ID --yes --allow-suspect Makefile'. `command`: the apply, as far as its session and target. Undefined where
 * none was held back.
 */
export function acceptAdvice(command: string, files: readonly FileProgress[]): string | undefined {
  const suspect = files.filter(({ verdict, item }) => verdict === 'suspect' && item.state === 'suspect');
  if (suspect.length === 0) return undefined;
  const options = allowOptions(suspect.map(({ item }) => item.change.path));
  return `Suspect changes need a yes: on a terminal, or with: ${command} --yes ${options}`;
}

/** '--allow-suspect /Makefile --allow-suspect src/x.sh'; of many paths, the option alone. */
export function allowOptions(paths: readonly string[]): string {
  const different = [...new Set(paths)];
  const globs = different.length > MAX_GLOBS ? ['GLOB'] : different.map(globOf);
  return [...new Set(globs)].map((glob) => `--allow-suspect ${glob}`).join(' ');
}

const MAX_GLOBS = 3;

/** A path as a word of a shell that is a glob for this path alone; only plain ones are spelled out. */
function globOf(path: string): string {
  if (!/^[\w.@+,:=/-]+$/.test(path)) return 'GLOB';
  // Without a slash a glob matches files of that name in every folder.
  return path.includes('/') ? path : `/${path}`;
}

/** Behind a number of applied files: how many of them have only some of their parts in the project. */
export const inPartWords = (inPart: number): string => `${inPart} of them in part`;

/** Behind the line that a session is discarded: what that takes with it. Empty where it applied nothing that could be undone. */
export function undoWords(isUndoable: boolean): string {
  return isUndoable ? ' What it applied stays in your project, and can no longer be undone.' : '';
}

function nameOf({ item }: FileProgress): string {
  const name = cleanLine(item.change.path);
  return item.renamedFrom === undefined ? name : `${cleanLine(item.renamedFrom)} → ${name}`;
}

function reasonOf({ item, verdict, why }: FileProgress): string {
  if (verdict === 'waiting' || verdict === 'skipped') {
    const suspect = item.state === 'suspect' ? 'suspect, ' : '';
    return `${suspect}${why === undefined ? 'not decided' : cleanLine(why)}`;
  }
  return why === undefined ? verdict : `${verdict}: ${cleanLine(why)}`;
}

function are(count: number): string {
  return count === 1 ? 'is' : 'are';
}
