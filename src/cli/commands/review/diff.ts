import { usageError } from '../../../core/errors.ts';
import { jsonText } from '../../../core/report/json.ts';
import { openContentStore } from '../../../core/store/content.ts';
import { whenText } from '../../../core/text/when.ts';
import type { ContentReader } from '../../../core/types/entry.ts';
import type { Review, ReviewItem } from '../../../core/types/review.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { matcher } from '../../../review/choices/build-review.ts';
import { isConversation } from '../../../review/choices/claude-items.ts';
import type { FileDiff } from '../../../review/choices/file-diff.ts';
import {
  APPLIED_IN_PART,
  countProgress,
  type FileProgress,
  fileProgress,
  isApplied,
} from '../../../review/choices/file-progress.ts';
import { diffLines } from '../../../review/screen/diff/diff-view.ts';
import { loadDiff } from '../../../review/screen/diff/show.ts';
import { sideBySideLines } from '../../../review/screen/diff/side-by-side.ts';
import { progressLine } from '../../../review/screen/outcome-lines.ts';
import { auditIfMissing, reviewOf } from '../../../session/end/frozen-review.ts';
import {
  changedInPlaceLine,
  ignoredInPlaceLines,
  isInPlace,
  shownReview,
  whereInPlaceLines,
} from '../../../session/end/report/shown-review.ts';
import { isRunning, storeDir } from '../../../session/record/session.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import { openOutput } from '../../../terminal/page-output.ts';
import type { CommandContext, CommandRun } from '../../context/context.ts';
import type { CommandLineOfCommand } from '../../grammar/parse-command-line.ts';
import { withSession } from '../../sessions/open-session.ts';
import { writePatch } from './patch.ts';

/** `diff [ID] [-- PATH…]`: the frozen differences of a session, cleaned, in the user's pager on a terminal. */
export const diffCommand: CommandRun = (line, context) =>
  withSession(line, context, line.options.has('follow') ? 'diff --follow' : 'diff', async (record, deps) => {
    if (line.options.has('follow')) return follow(record, line, context);
    await auditIfMissing(record, deps);
    const review = shownReview(record) ?? reviewOf(record);
    const shown = itemsOf(review, line);
    for (const text of unmatchedLines(shown, line)) context.tell({ kind: 'message', level: 'warning', text });
    if (line.options.has('json')) {
      context.write(jsonText(shown));
      return 0;
    }
    if (isInPlace(record)) return showInPlace(record, { review, items: shown }, line, context);
    const files = fileProgress(review, record.outcome?.changes ?? []);
    const counts = countProgress(files);
    const isPartly = counts.applied + counts.inPart > 0 && counts.left > 0;
    const when = record.outcome && whenText(record.outcome.at, Date.now());
    if (counts.applied + counts.inPart > 0) {
      const marked = isPartly && !isPatch(line) ? ' Applied ones are marked.' : '';
      const text = `${progressLine(counts, when, record.stage === 'discarded')}.${marked}`;
      context.tell({ kind: 'message', level: 'info', text });
    }
    const content = openContentStore(storeDir(record.plan.sessionDir));
    if (isPatch(line)) {
      await writePatch(shown, record, { content, context });
      return 0;
    }
    const marks = new Map(files.flatMap((file) => (isPartly || file.item.state === 'withheld' ? markOf(file) : [])));
    await show(shown, { line, context, marks, store: content });
    return 0;
  });

/** Of a file of a session that is partly applied: what is in the project of it. */
function markOf(file: FileProgress): (readonly [ReviewItem, string])[] {
  if (isApplied(file)) return [[file.item, '(applied)']];
  return file.why === APPLIED_IN_PART ? [[file.item, `(${APPLIED_IN_PART})`]] : [];
}

/** A line for each pattern behind `--` that no changed file matches: a mistyped one looks like a session without changes. */
function unmatchedLines(shown: readonly ReviewItem[], { rest }: CommandLineOfCommand): string[] {
  return rest
    .filter((pattern) => !shown.some((item) => isNamed(item, matcher([pattern]))))
    .map((pattern) => cleanLine(`No changed file matches ${pattern}`));
}

/** A rename has two names. */
function isNamed({ change, renamedFrom }: ReviewItem, matches: (path: string) => boolean): boolean {
  return matches(change.path) || (renamedFrom !== undefined && matches(renamedFrom));
}

/**
 * A bind session's changes are in the project, and the content of before is not kept: their names, and where to see
 * more. To a file or a program goes nothing but the names that were asked for: it may be a reader of patches.
 */
function showInPlace(
  record: SessionRecord,
  { review, items }: { readonly review: Review; readonly items: readonly ReviewItem[] },
  { options }: CommandLineOfCommand,
  { write, tell }: CommandContext,
): number {
  const isNamed = options.has('name-only') || options.has('stat') || options.has('view');
  for (const { change, renamedFrom } of items) {
    const name = cleanLine(change.path);
    const kind = renamedFrom === undefined ? change.kind : 'renamed';
    if (options.has('name-only')) write(`${name}\n`);
    else if (isNamed || process.stdout.isTTY === true) write(`${kind.padEnd(8)}  ${name}\n`);
  }
  const none = [changedInPlaceLine(review), ...ignoredInPlaceLines(review)];
  const lines = items.length === 0 ? none : whereInPlaceLines(record, { items });
  for (const text of lines) tell({ kind: 'message', level: 'info', text });
  return 0;
}

/** Other ways to print the changes than as a patch. */
const VIEWS = ['view', 'stat', 'name-only', 'side-by-side'];

/** As git does: output that is not a terminal gets what `git apply` and other programs take. */
function isPatch(line: CommandLineOfCommand): boolean {
  const view = VIEWS.find((name) => line.options.has(name));
  if (!line.options.has('patch')) return view === undefined && process.stdout.isTTY !== true;
  if (view !== undefined) throw usageError(`--patch excludes --${view}`, 'Leave out one of them.');
  return true;
}

function itemsOf(review: Review, { rest }: CommandLineOfCommand): readonly ReviewItem[] {
  const wanted = rest.length === 0 ? () => true : matcher(rest);
  const claude = review.claude?.items.filter((item) => rest.length > 0 || !isConversation(item)) ?? [];
  // A rename is shown once, by either of its names.
  return [...review.items, ...claude].filter(
    (item) => item.state !== 'git' && item.renamedTo === undefined && isNamed(item, wanted),
  );
}

interface ShowOptions {
  readonly line: CommandLineOfCommand;
  readonly context: CommandContext;
  /** What is printed behind the names of some. */
  readonly marks: ReadonlyMap<ReviewItem, string>;
  readonly store: ContentReader;
}

async function show(items: readonly ReviewItem[], { line, context, marks, store }: ShowOptions): Promise<void> {
  const { env, interruption } = context;
  const { stdout } = process;
  const isTerminal = stdout.isTTY === true && (env['TERM'] ?? 'dumb') !== 'dumb';
  const colour = isTerminal && (env['NO_COLOR'] ?? '') === '';
  const sideBySide = line.options.has('side-by-side');
  const view = sideBySide ? sideBySideLines : diffLines;
  // A file or a pipe has room for every line.
  const columns = stdout.columns ?? (sideBySide ? 160 : Number.POSITIVE_INFINITY);
  await using output = openOutput({ stdout, env, interruption });
  for (const item of items) {
    if (output.unread.aborted || interruption.signal.aborted) break;
    const { path } = item.change;
    const marked = marks.get(item) ?? (item.state === 'withheld' ? '(ignored: not applied)' : undefined);
    const mark = marked === undefined ? '' : `  ${marked}`;
    if (line.options.has('name-only')) await output.write(`${cleanLine(path)}\n`);
    else if (line.options.has('stat')) {
      await output.write(`${statLine(item, await loadDiff(store, item))}${mark}\n`);
    } else {
      const [head = '', ...lines] = view(item, await loadDiff(store, item), { colour, columns });
      await output.write(`${[head + mark, ...lines].join('\n')}\n`);
    }
  }
}

/** Fires when stdout has no reader: `| head`, or a pager that was closed. */
function whenUnread(): AbortSignal {
  const unread = new AbortController();
  process.stdout.once('error', () => unread.abort());
  return unread.signal;
}

/** 'renamed  +12 -3       docs.txt (from doc.txt)'. */
function statLine({ change, renamedFrom }: ReviewItem, diff: FileDiff): string {
  const kind = renamedFrom === undefined ? change.kind : 'renamed';
  const from = renamedFrom === undefined ? '' : ` (from ${cleanLine(renamedFrom)})`;
  return `${kind.padEnd(8)} ${countsOf(diff).padEnd(11)} ${cleanLine(change.path)}${from}`;
}

/** '+12 -3', lines added and removed. */
function countsOf(diff: FileDiff): string {
  if (diff.kind !== 'text') return diff.kind === 'none' ? '' : diff.kind;
  const count = (op: '+' | '-'): number =>
    diff.hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.op === op).length, 0);
  return `+${count('+')} -${count('-')}`;
}

/** `diff --follow`: each change of a running session as it happens. Ends with the session, at Ctrl-C, or without a reader. */
async function follow(record: SessionRecord, line: CommandLineOfCommand, context: CommandContext): Promise<number> {
  if (!isRunning(record)) {
    throw usageError(`session ${record.id} is not running`, 'Leave --follow out: diff prints what it changed.');
  }
  const [{ followSession }, { openEngineOf }] = await Promise.all([
    import('../../../session/later/follow.ts'),
    import('../../engines/open-engine.ts'),
  ]);
  const engine = await openEngineOf(record.plan, context);
  const wanted = line.rest.length === 0 ? () => true : matcher(line.rest);
  const { tell, write } = context;
  const signal = AbortSignal.any([context.interruption.signal, whenUnread()]);
  try {
    await followSession(record, { engine, tell, signal, write, wanted, json: line.options.has('json') });
  } finally {
    await engine.close();
  }
  return 0;
}
