import { foldersAbove, parentPath } from '../../core/text/path.ts';
import type { ChosenChange } from '../../core/types/review.ts';
import type { ChangeOutcome } from '../../core/types/session.ts';
import type { ConflictRules } from './apply-request.ts';
import { type HostWalker, NotAFolder } from './disk/host/host-path.ts';
import type { Step } from './disk/steps/steps.ts';

/** Why a change whose folder was removed on the host is a conflict. */
export const FOLDER_REMOVED = 'its folder does not exist on the host';

/**
 * Steps that create folders which were removed on the host, for changes in them with the rule 'theirs', as git does. A
 * link or a file with the name of such a folder stays.
 */
export async function missingFolderSteps(
  steps: readonly Step[],
  chosen: ReadonlyMap<string, ChosenChange>,
  { rules, walker }: { readonly rules: ConflictRules; readonly walker: HostWalker },
): Promise<Step[]> {
  const known = new Set(steps.map(({ path }) => path));
  const made = new Map<string, Step>();
  for (const step of steps) {
    const missing = step.post === undefined ? [] : missingFolders(step.path, known, walker);
    const change = chosen.get(step.path)?.change;
    if (missing.length === 0 || change === undefined) continue;
    const isFile = change.after?.kind === 'file';
    const conflict = {
      path: change.path,
      why: FOLDER_REMOVED,
      rules: ['keep', 'theirs', ...(isFile ? (['file'] as const) : [])] as const,
    };
    if ((await rules.ruleFor(conflict)) === 'theirs') for (const path of missing) made.set(path, folderStep(path));
  }
  return [...made.values()];
}

/**
 * The steps without those that create a folder in which no entry is created any more: one of `folders`, or a folder of
 * the session whose content cannot be applied. The latter gets the verdict of that content. A folder that the session
 * left empty is still created.
 */
export function withoutUnusedFolders(
  steps: readonly Step[],
  folders: readonly Step[],
  outcomes: ChangeOutcome[],
): Step[] {
  const made = new Set(folders.map(({ path }) => path));
  const lost = new Map<string, ChangeOutcome>();
  for (const outcome of outcomes) for (const folder of foldersAbove(outcome.path)) lost.set(folder, outcome);
  const used = new Set<string>();
  const unused = new Set<Step>();
  // Deepest first: a folder that is created counts as an entry of the folders above it.
  for (const step of [...steps].sort((a, b) => b.path.length - a.path.length)) {
    const { path, pre, post } = step;
    if (post === undefined) continue;
    const isNewFolder = pre === undefined && post.kind === 'dir';
    const isUnused = isNewFolder && !used.has(path) && (made.has(path) || lost.has(path));
    if (isUnused) unused.add(step);
    else for (const folder of foldersAbove(path)) used.add(folder);
  }
  for (const { path } of unused) {
    const verdict = lost.get(path)?.verdict;
    if (verdict !== undefined && !made.has(path))
      outcomes.push({ path: path as ChangeOutcome['path'], verdict, why: 'nothing in it is applied' });
  }
  return steps.filter((step) => !unused.has(step));
}

/** Steps that create the missing folders of files to be written. */
export function foldersFor(files: readonly Step[], steps: readonly Step[], walker: HostWalker): Step[] {
  const known = new Set(steps.map(({ path }) => path));
  const missing = new Set(files.flatMap(({ path }) => missingFolders(path, known, walker)));
  return [...missing].map(folderStep);
}

/** Step that creates a folder as `mkdir` asks for it. */
function folderStep(path: string): Step {
  return { path, post: { kind: 'dir', mode: 0o777 } };
}

/**
 * The folders above a path that do not exist and that no step creates or removes. Empty if something that is not a
 * folder has the name of one.
 */
function missingFolders(path: string, known: ReadonlySet<string>, walker: HostWalker): string[] {
  const missing: string[] = [];
  for (let folder = parentPath(path); folder !== ''; folder = parentPath(folder)) {
    if (known.has(folder)) return missing;
    try {
      walker.enter(folder);
      return missing;
    } catch (error) {
      if (!(error instanceof NotAFolder)) throw error;
      if (error.found !== 'absent') return [];
      missing.push(folder);
    }
  }
  return missing;
}
