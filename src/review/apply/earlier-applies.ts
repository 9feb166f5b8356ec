import type { Entry } from '../../core/types/entry.ts';
import type { ChosenChange } from '../../core/types/review.ts';
import { sameContent } from './decide.ts';
import type { HostEntry, HostState } from './disk/host/host-entry.ts';
import { type ReadJournal, readJournals } from './disk/journal/journal.ts';
import type { Target } from './disk/steps/steps.ts';

/** What earlier applies of a session wrote, by path: content of the session alone, without edits of the host. */
export type EarlierApplies = ReadonlyMap<string, Target>;

/**
 * What the session's earlier applies wrote, without what was undone. A resumed session may have changed such a file
 * again, and that is not a conflict with the host. Content that was merged with edits of the host is left out.
 */
export function earlierApplies(sessionDir: string, chosen: readonly ChosenChange[]): EarlierApplies {
  const before = new Map(chosen.map(({ change }) => [change.path as string, change.before]));
  const written = new Map<string, Target>();
  for (const journal of readJournals(sessionDir)) {
    const isApply = journal.head.kind === 'apply' && journal.rollback === undefined;
    for (const number of finishedSteps(journal)) {
      const { path, pre, post } = journal.steps[number] ?? {};
      if (path === undefined || !before.has(path)) continue;
      const isAlone = isApply && (isSame(pre, before.get(path)) || isSame(pre, written.get(path)));
      if (isAlone && post !== undefined) written.set(path, post);
      else written.delete(path);
    }
  }
  return written;
}

/**
 * The third side of a merge: the path before the session, or what an earlier apply wrote when the host still has that.
 * Chosen parts are always of the path before the session: other parts that an earlier apply wrote stay.
 */
export function mergeBase(
  { change, content }: ChosenChange,
  host: HostState | undefined,
  earlier: EarlierApplies,
): Entry | undefined {
  const written = earlier.get(change.path);
  // There are no other parts in a file that the session made: the chosen content is all of it.
  const keepsParts = content !== undefined && change.before !== undefined;
  if (host === undefined || written === undefined || keepsParts || !isSame(written, host)) return change.before;
  const { kind, mtimeNs, size, digest, target } = host;
  const given = change.after === undefined ? host.mode : written.mode;
  const mode = change.after?.mode ?? given;
  const isAlike =
    written.sessionMode === undefined
      ? ((mode ^ given) & 0o777 & ~process.umask()) === 0
      : written.sessionMode === (mode & 0o777);
  return {
    kind,
    // Bits that the entry got as the user's tools make it are not a change by the session.
    mode: isAlike ? mode : given,
    mtimeNs,
    size,
    ...(digest === undefined ? {} : { digest }),
    ...(target === undefined ? {} : { target }),
  };
}

function finishedSteps({ done, end, steps, failed }: ReadJournal): readonly number[] {
  const numbers = steps.map((_, number) => number);
  return end === undefined ? [...done.keys()] : numbers.filter((number) => !failed.has(number));
}

function isSame(a: HostEntry | Target | undefined, b: HostEntry | Target | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return sameContent(a as HostEntry, b as HostEntry);
}
