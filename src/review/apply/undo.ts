import { closeSync, constants, futimesSync, openSync } from 'node:fs';
import { EXIT, RunClaudeError } from '../../core/errors.ts';
import { announceWait } from '../../core/progress/announce-wait.ts';
import type { ContentStore } from '../../core/store/content.ts';
import { settableTime } from '../../core/store/file-time.ts';
import { withLock } from '../../core/store/lock.ts';
import type { RelPath } from '../../core/text/path.ts';
import type { Merged } from '../../core/types/change/conflict.ts';
import type { Change, Entry } from '../../core/types/entry.ts';
import type { Tell } from '../../core/types/event.ts';
import type { ChosenChange } from '../../core/types/review.ts';
import type { ApplyOutcome, ChangeOutcome } from '../../core/types/session.ts';
import { type HostWalker, NotAFolder, openHostWalker } from './disk/host/host-path.ts';
import { expectedIdentity, type ReadJournal, readJournals } from './disk/journal/journal.ts';
import type { FolderTime } from './disk/journal/journal-format.ts';
import { folderTime, runJournalled } from './disk/journal/journalled.ts';
import { type Step, withActualMode } from './disk/steps/steps.ts';
import { projectLockFile } from './lock-file.ts';
import { prepare } from './prepare.ts';
import { recoverApply } from './recover.ts';

export interface UndoRequest {
  readonly project: string;
  readonly sessionDir: string;
  readonly store: ContentStore;
  readonly tell: Tell;
  readonly signal?: AbortSignal;
  /** Only report what would be restored. */
  readonly dryRun: boolean;
  /** For files that the user edited since: shows the three-way merge and asks. Undefined: they are left as they are. */
  readonly acceptMerge?: (merge: Merged) => Promise<boolean>;
}

export interface UndoOutcome extends ApplyOutcome {
  /** Of the changes, those that the apply had made: undoing it removes them. */
  readonly removed: readonly RelPath[];
}

/**
 * Restores exactly what the last apply of this session changed: content, modes, times, links, folders. What the user
 * edited since stays, as a conflict, and can be undone later. Where nothing of an apply can be restored, the one before it
 * is undone.
 *
 * @throws {RunClaudeError} UNDO_NOTHING when there is no apply to undo, and as {@link recoverApply}.
 */
export async function undoApply(request: UndoRequest): Promise<UndoOutcome> {
  const lock = {
    what: `undoing an apply to ${request.project}`,
    waitMs: 60_000,
    waiting: announceWait(request.tell),
  };
  return withLock(projectLockFile(request.sessionDir, request.project), lock, async () => {
    await recoverApply({ ...request, locked: true });
    const last = await restorableApply(request);
    using walker = openHostWalker(request.project, expectedIdentity(last.head));
    const chosen = inverseChanges(last);
    const prepared = await prepareUndo(last, request, walker);
    const outcomes: ChangeOutcome[] = [...prepared.outcomes];
    if (request.dryRun) {
      for (const { path } of prepared.steps) outcomes.push({ path: path as RelPath, verdict: 'applied' });
    } else {
      const before = new Map(last.end?.folders.map((folder) => [folder.path, folderTime(walker, folder.path)]));
      const finish = (): void => restoreTimes(last, before, walker);
      const run = {
        ...request,
        walker,
        steps: prepared.steps,
        ...prepared.things,
        kind: 'undo' as const,
        undoes: last.number,
        finish,
      };
      for (const one of await runJournalled(run)) outcomes.push(one);
    }
    return {
      changes: outcomes.sort((a, b) => (a.path < b.path ? -1 : 1)),
      at: new Date().toISOString(),
      removed: chosen.flatMap(({ change }) => (change.kind === 'deleted' ? [change.path] : [])),
    };
  });
}

function prepareUndo(last: LastApply, request: UndoRequest, walker: HostWalker): ReturnType<typeof prepare> {
  const choice = { decided: true, discard: false, chosen: inverseChanges(last), left: [], folders: [] };
  const acceptMerge = request.acceptMerge ?? (async () => false);
  const asked = { ...request, choice, conflict: 'keep' as const, audit: () => [], acceptMerge };
  return prepare({ request: asked, walker, trusted: true, others: last.head.others });
}

/**
 * The most recent apply of which something can be restored, or else the most recent one of which something was edited since.
 */
async function restorableApply(request: UndoRequest): Promise<LastApply> {
  const open = openApplies(request.sessionDir);
  // Planning an undo reads every file of it: it is planned twice only where that may choose another apply.
  if (open.length === 1 && open[0]?.isWhole) return open[0];
  let edited: LastApply | undefined;
  for (const one of open) {
    using walker = openHostWalker(request.project, expectedIdentity(one.head));
    // Nobody is asked twice about a merge.
    const { steps, outcomes } = await prepareUndo(one, { ...request, acceptMerge: async () => true }, walker);
    if (steps.length > 0) return one;
    if (outcomes.some(({ verdict }) => verdict !== 'same')) edited ??= one;
  }
  if (edited !== undefined) return edited;
  throw new RunClaudeError('UNDO_NOTHING', 'this session has no apply that could be undone', {
    status: EXIT.usage,
    hint: 'What an apply replaced is kept for 30 days. The sessions: run-claude sessions',
  });
}

interface LastApply extends ReadJournal {
  /** The paths that are still to be undone. */
  readonly paths: ReadonlySet<string>;
  /** Nothing of it was undone yet. */
  readonly isWhole: boolean;
}

/** When the most recent apply began that can be undone; ISO 8601. Undefined where there is none. */
export function undoableSince(sessionDir: string): string | undefined {
  return openApplies(sessionDir)[0]?.head.at;
}

/** The applies that changed something which was not restored, the most recent first. */
function openApplies(sessionDir: string): LastApply[] {
  const journals = readJournals(sessionDir);
  return journals
    .filter(({ head }) => head.kind === 'apply')
    .map((journal): LastApply => {
      const undone = journals.filter(({ head }) => head.undoes === journal.number);
      const restored = new Set<string>(undone.flatMap((undo) => [...changedPaths(undo)]));
      const paths = new Set([...changedPaths(journal)].filter((path) => !restored.has(path)));
      return { ...journal, paths, isWhole: undone.length === 0 };
    })
    .filter(({ paths }) => paths.size > 0)
    .reverse();
}

/** The paths that a journal's apply changed, or its undo restored: those that failed, or that the user had edited, are not. */
function changedPaths(journal: ReadJournal): ReadonlySet<string> {
  return new Set(journal.end?.outcomes.flatMap(({ path, verdict }) => (verdict === 'applied' ? [path] : [])));
}

/**
 * The inverse of the apply, as changes for the three-way decision: "before" is what the apply left, "after" what there
 * was. What was applied together is undone together: a new name stays where its old name cannot be restored.
 */
function inverseChanges(journal: LastApply): ChosenChange[] {
  const changed = journal.paths;
  const byPath = new Map<string, Step>();
  for (const [number, planned] of journal.steps.entries()) {
    const step = withActualMode(planned, journal.done.get(number));
    // A folder that was made and then made read-only has two steps: the first has `pre`, the last the final `post`.
    const known = byPath.get(step.path);
    const joined = known === undefined ? step : { ...known, ...(step.post && { post: step.post }) };
    if (changed.has(step.path)) byPath.set(step.path, joined);
  }
  return [...byPath.values()].map((step) => ({
    change: inverseChange(step),
    ...(step.together !== undefined && { together: step.together }),
  }));
}

function inverseChange({ path, pre, post }: Step): Change {
  const before: Entry | undefined = post && { ...post, size: post.size ?? 0, mtimeNs: post.mtimeNs ?? '0' };
  const kind = pre === undefined ? 'deleted' : before === undefined ? 'created' : 'modified';
  return { path: path as RelPath, kind, ...(before && { before }), ...(pre && { after: pre }) };
}

/** Folders get the time that they had before the apply, unless the user changed their entries since. */
function restoreTimes(last: ReadJournal, before: ReadonlyMap<string, string | undefined>, walker: HostWalker): void {
  const folders = last.end?.folders ?? [];
  const deepestFirst = [...folders, ...removedFolders(last)].sort((a, b) => (a.path < b.path ? 1 : -1));
  for (const folder of deepestFirst) {
    if (folder.after !== undefined && before.get(folder.path) !== folder.after) continue;
    try {
      const fd = openSync(Buffer.concat([walker.enter(folder.path), Buffer.from('.')]), constants.O_RDONLY);
      try {
        futimesSync(fd, settableTime(folder.mtimeNs), settableTime(folder.mtimeNs));
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      // A folder that could not be restored has no time to set; its own outcome has the reason.
      const { code } = error as NodeJS.ErrnoException;
      if (!(error instanceof NotAFolder) && !['EPERM', 'EACCES', 'EROFS'].includes(code ?? '')) throw error;
    }
  }
}

function removedFolders(last: ReadJournal): FolderTime[] {
  const known = new Set(last.end?.folders.map((folder) => folder.path));
  return last.steps.flatMap(({ path, pre }) =>
    pre?.kind === 'dir' && !known.has(path) ? [{ path, mtimeNs: pre.mtimeNs }] : [],
  );
}
