import { usageError } from '../../errors.ts';
import { jsonText } from '../../report/json.ts';
import { matcher } from '../../review/build-review.ts';
import { isConversation } from '../../review/claude-items.ts';
import type { FileDiff } from '../../review/file-diff.ts';
import { followSession, isRunning } from '../../session/follow.ts';
import { storeDir } from '../../session/record.ts';
import { reviewOf } from '../../session/review-session.ts';
import { openContentStore } from '../../store/content.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { diffLines } from '../../terminal/diff-view.ts';
import { loadDiff } from '../../terminal/show.ts';
import { sideBySideLines } from '../../terminal/side-by-side.ts';
import type { ReviewItem } from '../../types/review.ts';
import type { SessionRecord } from '../../types/session.ts';
import { connectOurs } from '../connect-ours.ts';
import type { CommandContext, CommandRun } from '../context.ts';
import { withSession } from '../open-session.ts';
import type { CommandLineOfCommand } from '../parse-command-line.ts';

/** `diff [ID] [-- PATH…]`: the frozen differences of a session, cleaned. */
export const diffCommand: CommandRun = (line, context) =>
  withSession(line, context, async (record) => {
    if (line.options.has('follow')) return follow(record, line, context);
    const sideBySide = line.options.has('side-by-side');
    const view = sideBySide ? sideBySideLines : diffLines;
    // A file or a pipe has room for every line.
    const columns = process.stdout.columns ?? (sideBySide ? 160 : Number.POSITIVE_INFINITY);
    const store = openContentStore(storeDir(record.plan.sessionDir));
    const wanted = line.rest.length === 0 ? () => true : matcher(line.rest);
    const review = reviewOf(record);
    const claude = review.claude?.items.filter((item) => line.rest.length > 0 || !isConversation(item)) ?? [];
    // A rename is shown once, by either of its names.
    const items = [...review.items, ...claude].filter(
      ({ change, state, renamedFrom, renamedTo }) =>
        state !== 'git' &&
        renamedTo === undefined &&
        (wanted(change.path) || (renamedFrom !== undefined && wanted(renamedFrom))),
    );
    if (line.options.has('json')) {
      context.write(jsonText(items));
      return 0;
    }
    const colour = process.stdout.isTTY === true && (context.env['NO_COLOR'] ?? '') === '';
    const unread = whenUnread();
    for (const item of items) {
      if (unread.aborted) break;
      const { path } = item.change;
      if (line.options.has('name-only')) context.write(`${cleanLine(path)}\n`);
      else {
        const diff = await loadDiff(store, item);
        if (line.options.has('stat')) context.write(`${statLine(item, diff)}\n`);
        else context.write(`${view(item, diff, { colour, columns }).join('\n')}\n`);
      }
    }
    return 0;
  });

/** Fires when nobody reads what is written any more: `| head`, a pager that was left. */
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

/** `diff --follow`: what a running session changes, as it happens, until it ends, Ctrl-C, or nobody reads it. */
async function follow(record: SessionRecord, line: CommandLineOfCommand, context: CommandContext): Promise<number> {
  if (!isRunning(record)) {
    throw usageError(`session ${record.id} does not run`, 'Without --follow, diff shows what it changed.');
  }
  const engine = await connectOurs(record.plan.policy.engine, context);
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
