import path from 'node:path';
import { foldersAbove } from '../../core/text/path.ts';
import { pathPattern } from '../../core/text/patterns/path-pattern.ts';
import { shellWord } from '../../core/text/shell-word.ts';
import type { Change, MaskedEdit, WithheldGroup } from '../../core/types/entry.ts';
import type { Finding } from '../../core/types/finding.ts';
import type { ClaudeReview, Review } from '../../core/types/review.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { amount } from '../../terminal/progress.ts';
import { isConversation } from '../choices/claude-items.ts';
import { totalFiles } from '../choices/counts.ts';
import { heldRemoval, unignoredPatterns } from '../choices/decisions.ts';
import { setName } from '../choices/file-sets.ts';
import {
  extraFolderFiles,
  isOfNewRepository,
  type NewRepositories,
  newRepositories,
} from '../choices/new-repositories.ts';
import { commitLines } from './commit-lines.ts';
import { findingLines, MAX_FINDINGS_PER_KIND, type SummaryLine } from './finding-lines.ts';

const PROJECT_REPOSITORY: SummaryLine = {
  text: 'The session made a repository of the project: its .git stays in the session',
  severity: 'note',
};

/** Ignored outputs with their own line; more are one line. */
const MAX_WITHHELD_LINES = 3;

/**
 * The lines that you read before the question, without the prefix, cleaned. The findings of one file are one text with
 * several lines. Of very many findings of one kind, the first ones and how many more there are. `importWith`: the command
 * that imports the session's commits, for a question that is about its files. `layout`: makes the lines of findings.
 */
export function summaryLines(
  review: Review,
  maxPerKind: number = MAX_FINDINGS_PER_KIND,
  importWith?: string,
  layout: (findings: readonly Finding[], maxPerKind: number) => SummaryLine[] = findingLines,
): SummaryLine[] {
  const lines: SummaryLine[] = [info(countLine(review))];
  if (review.isUnaudited) {
    lines.push({ text: 'WARNING: The changes are not audited yet: run-claude diff does it', severity: 'blocked' });
    return lines;
  }
  const { massDeletion: mass } = review;
  if (mass !== undefined) {
    lines.push({ text: `WARNING: the session deletes ${mass.deleted} of ${mass.of} entries`, severity: 'blocked' });
  }
  for (const text of commitLines(review.commits ?? [])) lines.push(info(text));
  if (importWith !== undefined) lines.push(info(`The commits are imported by: ${importWith}`));
  const repositories = newRepositories(review);
  // Where commits are listed, what else git wrote, for a checkout or a status, brings nothing.
  const isOfListed = ({ rule }: Finding): boolean => rule === 'git-data' && review.commits !== undefined;
  const findings = [...review.items.flatMap((item) => item.findings), ...review.general].filter(
    (one) => !isOfListed(one) && !isOfNewRepository(one, repositories),
  );
  const inNamedFolder = repeatedBelow(findings);
  const told = new Set<string>(findings.filter(tellsProblem).map(({ path }) => path));
  for (const { path, why } of review.problems) {
    if (told.has(path)) continue;
    lines.push({ text: `WARNING: ${cleanLine(path)}: ${cleanLine(why)} (BLOCKED — not synced)`, severity: 'blocked' });
  }
  for (const line of repositoryLines(review, repositories)) lines.push(line);
  for (const line of layout(
    findings.filter((one) => !inNamedFolder(one)),
    maxPerKind,
  ))
    lines.push(line);
  return [
    ...lines,
    ...setLines(review),
    ...(repositories.gitDirs.has('.git') ? [PROJECT_REPOSITORY] : []),
    ...withheldLines(review),
    ...(review.claude === undefined ? [] : claudeLines(review.claude)),
  ];
}

/** Whether a folder above has the same finding: the name of a folder is part of every path in it. */
function repeatedBelow(findings: readonly Finding[]): (one: Finding) => boolean {
  const key = ({ rule, detail = '' }: Finding, path: string): string => `${rule}\0${detail}\0${path}`;
  const all = new Set(findings.map((one) => key(one, one.path)));
  return (one) => one.detail !== undefined && [...foldersAbove(one.path)].some((folder) => all.has(key(one, folder)));
}

/** Things in several files, each of which is applied whole or not at all. */
function setLines({ decisions }: Review): SummaryLine[] {
  const sets = decisions.flatMap(({ set, items, state }) => (set === undefined ? [] : [{ set, items, state }]));
  const lines = sets.slice(0, MAX_FINDINGS_PER_KIND).map(({ set, items, state }): SummaryLine => {
    const held = items.find((item) => item.state === 'withheld');
    const why =
      state === 'withheld' && held ? `; all are held back with ${cleanLine(held.change.path)}, which is ignored` : '';
    return {
      text: `one change: ${cleanLine(setName(set))} (${amount(items.length, 'files')})${why}`,
      severity: 'note',
    };
  });
  const more = sets.length - MAX_FINDINGS_PER_KIND;
  return more > 0 ? [...lines, { text: `one change: ${more} more things in several files`, severity: 'note' }] : lines;
}

/** A line for each repository that the session made: what is next to its git directory comes without it. */
function repositoryLines(review: Review, { gitDirs, bare }: NewRepositories): SummaryLine[] {
  const below = [...gitDirs].filter((gitDir) => gitDir !== '.git');
  const texts = [
    ...below.slice(0, MAX_FINDINGS_PER_KIND).map((gitDir) => {
      const files = extraFolderFiles(review, gitDir);
      const come = files === 0 ? '' : `: ${files === 1 ? '1 file comes' : `${files} files come`} without it`;
      return `New nested repository: ${cleanLine(gitDir)}${come}`;
    }),
    ...[...bare].slice(0, MAX_FINDINGS_PER_KIND).map(([folder, entries]) => {
      return `New bare repository: ${cleanLine(folder)}: ${entries} ${entries === 1 ? 'entry' : 'entries'}`;
    }),
  ];
  const more = below.length + bare.size - texts.length;
  return [...texts, ...(more > 0 ? [`New repositories: ${more} more`] : [])].map((text) => ({
    text: `WARNING: ${text} (BLOCKED — not synced)`,
    severity: 'blocked',
  }));
}

/** What the base's ignore rules match: deletions and replaced files that are held back with it first, then what can be asked for. */
export function withheldLines(review: Review): SummaryLine[] {
  const lines: SummaryLine[] = [];
  const note = (text: string): void => void lines.push({ text, severity: 'note' });
  const held = review.decisions.flatMap((decision) => {
    const removal = heldRemoval(decision);
    return (removal?.removed ?? []).map(({ change }) => ({ path: change.path, contentIn: removal?.contentIn }));
  });
  for (const { path, contentIn } of held.slice(0, MAX_FINDINGS_PER_KIND)) {
    const where = contentIn === undefined ? 'a withheld file' : cleanLine(contentIn);
    lines.push({
      text: `WARNING: Moved to a withheld name: ${cleanLine(path)} stays; what it held is only in ${where}`,
      severity: 'suspect',
    });
  }
  if (held.length > MAX_FINDINGS_PER_KIND) {
    const count = held.length - MAX_FINDINGS_PER_KIND;
    lines.push({ text: `WARNING: Moved to a withheld name: ${count} more`, severity: 'suspect' });
  }
  for (const text of maskedLines(review.maskedEdits ?? [])) note(text);
  if (review.uncompared > 0) {
    note(`${amount(review.uncompared, 'files')} that are withheld were not compared with the deleted ones`);
  }
  const unignored = review.items.filter((item) => item.unignored !== undefined && !isFolder(item.change));
  for (const pattern of unignoredPatterns(unignored).slice(0, MAX_FINDINGS_PER_KIND)) {
    const files = unignored.filter(({ change }) => change.unignored === pattern);
    note(`un-ignored by the session: ${amount(files.length, 'files')}, withheld; ${optionFor(pattern)} takes them`);
  }
  const kept = ignoredFiles(review);
  for (const text of ignoredFileLines(kept)) note(text);
  const isNamed = ({ directory, entries }: WithheldGroup): boolean => entries === 1 && kept.includes(directory);
  for (const text of withheldGroups(review.withheld.filter((group) => !isNamed(group)))) note(text);
  return lines;
}

/** Masked files that the session changed: the user's own stay as they are. */
function maskedLines(edits: readonly MaskedEdit[]): string[] {
  const lines = edits.slice(0, MAX_FINDINGS_PER_KIND).map(({ path, added }) => {
    const what = added.length === 0 ? '' : `; added inside, for you to add: ${cleanLine(added.join(', '))}`;
    return `masked: ${cleanLine(path)} stays as it is${what}`;
  });
  const more = edits.length - MAX_FINDINGS_PER_KIND;
  return more > 0 ? [...lines, `masked: ${more} more stay as they are`] : lines;
}

/** Ignored files that are kept with the session and can be asked for, outside of larger decisions. */
function ignoredFiles({ decisions }: Review): string[] {
  return decisions.flatMap(({ state, items: [item, more] }) => {
    if (state !== 'withheld' || item === undefined || more !== undefined) return [];
    return item.state !== 'withheld' || item.unignored !== undefined || isFolder(item.change) ? [] : [item.change.path];
  });
}

function ignoredFileLines(paths: readonly string[]): string[] {
  if (paths.length > MAX_WITHHELD_LINES)
    return [`withheld: the changes of ${paths.length} ignored files; --include-ignored=GLOB takes them`];
  const option = (path: string): string => optionFor(pathPattern(path));
  return paths.map((path) => `withheld: the change of ${cleanLine(path)}, which is ignored; ${option(path)} takes it`);
}

/** Ignored outputs, a line each; of many, one line with the largest ones and their sum. */
function withheldGroups(groups: readonly WithheldGroup[]): string[] {
  const own = groups.filter(({ unignored }) => unignored);
  const others = groups.filter(({ unignored }) => !unignored);
  const taken = own.slice(0, MAX_FINDINGS_PER_KIND).map(({ directory, entries, bytes }) => {
    const what = `${cleanLine(directory)} (${ignoredAmount(entries, bytes)})`;
    return `withheld: ${what}, un-ignored by the session; ${optionFor(directory)} takes them next time`;
  });
  if (own.length > MAX_FINDINGS_PER_KIND)
    taken.push(`withheld: ${own.length - MAX_FINDINGS_PER_KIND} more that the session un-ignores`);
  if (others.length <= MAX_WITHHELD_LINES) {
    const line = ({ directory, entries, bytes }: WithheldGroup): string =>
      `withheld: ${cleanLine(directory)} (${ignoredAmount(entries, bytes)})`;
    return [...taken, ...others.map(line)];
  }
  const largest = others.toSorted((a, b) => b.entries - a.entries).slice(0, MAX_WITHHELD_LINES);
  const named = largest.map(({ directory }) => cleanLine(directory));
  const sum = (of: (group: WithheldGroup) => number): number => others.reduce((all, group) => all + of(group), 0);
  const total = ignoredAmount(
    sum(({ entries }) => entries),
    sum(({ bytes }) => bytes),
  );
  return [...taken, `withheld: ${named.join(', ')} and ${others.length - named.length} more (${total})`];
}

/** '--include-ignored=vim', quoted for a shell where it must be. */
function optionFor(pattern: string): string {
  return shellWord(cleanLine(`--include-ignored=${pattern}`));
}

const isFolder = ({ before, after }: Change): boolean => (after ?? before)?.kind === 'dir';

/** '1 ignored entry, 12 bytes'. */
export function ignoredAmount(entries: number, bytes: number): string {
  return `${entries.toLocaleString('en')} ignored ${entries === 1 ? 'entry' : 'entries'}, ${amount(bytes, 'bytes')}`;
}

/** Claude's own data: findings as they are, what comes back and what stays out by number. */
export function claudeLines({ items, general, dropped }: ClaudeReview): SummaryLine[] {
  const lines = findingLines([...items.flatMap((item) => item.findings), ...general]);
  const back = items.filter(({ state }) => state === 'clean');
  const talks = back.filter(isConversation).length;
  const parts = [
    ...(talks === 0 ? [] : [`${talks} conversation${talks === 1 ? '' : 's'}`]),
    ...(back.length > talks ? [amount(back.length - talks, 'files')] : []),
  ];
  if (parts.length > 0) lines.push(info(`Claude's data: ${parts.join(', ')} to bring back`));
  // Records that are not conversation are part of every session: `status --json` counts them.
  const secrets = dropped['record with a credential'] ?? 0;
  if (secrets > 0)
    lines.push({
      text: `Claude's data: left out: ${secrets} ${secrets === 1 ? 'record' : 'records'} with a credential`,
      severity: 'note',
    });
  return lines;
}

/** Whether a finding says what a change's problem is: ignored changes have one and no finding. */
export function tellsProblem({ rule, detail }: Finding): boolean {
  return rule === 'unreadable' && detail !== undefined;
}

/** '12 files modified, 3 files created, 1 file deleted'. */
export function countLine(review: Review): string {
  const { created, modified, deleted, mode, type, renamed } = review.counts;
  if (totalFiles(review.counts) === 0) return 'No files changed';
  const parts = [
    [modified, 'modified'],
    [created, 'created'],
    [deleted, 'deleted'],
    [renamed, 'renamed'],
    [mode, 'with another mode'],
    [type, 'of another kind'],
  ] as const;
  const said = parts.flatMap(([count, what]) => (count === 0 ? [] : [`${amount(count, 'files')} ${what}`]));
  return said.join(', ');
}

/** '~/Projects/x' for a path below the home directory; cleaned. */
export function shortPath(absolute: string, home: string): string {
  const below = path.relative(home, absolute);
  const inside = home !== '' && !below.startsWith('..') && !path.isAbsolute(below);
  return cleanLine(inside ? (below === '' ? '~' : `~/${below}`) : absolute);
}

function info(text: string): SummaryLine {
  return { text, severity: 'info' };
}
