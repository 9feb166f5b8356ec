import { liesBelow, parentPath } from '../../core/text/path.ts';
import type { ChosenChange } from '../../core/types/review.ts';
import type { ChangeOutcome } from '../../core/types/session.ts';
import { heldFolder } from './disk/host/held-folder.ts';
import { namesBelow } from './disk/host/host-entry.ts';
import { type HostWalker, NotAFolder } from './disk/host/host-path.ts';
import { keepTogether } from './disk/keep-together.ts';
import { HOST_FILES_LOST } from './disk/replaced-folders.ts';
import { replacesFolder, type Step } from './disk/steps/steps.ts';
import { FOLDER_REMOVED } from './missing-folders.ts';

interface BrokenContext {
  readonly walker: HostWalker;
  /** Changes that were not chosen or are held back. */
  readonly left: readonly ChangeOutcome[];
  /** The thing in several files that a path is a file of. */
  thingOf(path: string): string | undefined;
}

/**
 * The steps without those that can only be done in part. A dropped step may be one that another step needs, so this
 * repeats until no step is dropped.
 */
export function dropPartial(
  all: readonly Step[],
  outcomes: ChangeOutcome[],
  chosen: readonly ChosenChange[],
  context: BrokenContext,
): Step[] {
  for (let steps = [...all]; ; ) {
    const kept = dropBroken(keepTogether(steps, outcomes, chosen, context.thingOf), outcomes, context);
    if (kept.length === steps.length) return kept;
    steps = kept;
  }
}

/**
 * Turns steps that cannot be done completely into conflicts: those of a folder that cannot be replaced, with everything
 * in it, and those in a folder that will not exist.
 */
function dropBroken(
  steps: readonly Step[],
  outcomes: ChangeOutcome[],
  { walker, left }: Omit<BrokenContext, 'thingOf'>,
): Step[] {
  let kept = [...steps];
  const drop = (isDropped: (step: Step) => boolean, why: string, held?: ReadonlyMap<string, ChangeOutcome>): void => {
    for (const step of kept.filter(isDropped)) {
      const reason = (held && heldFolder(step.path, held)) ?? { verdict: 'conflict' as const, why };
      outcomes.push({ path: step.path as ChangeOutcome['path'], ...reason });
    }
    kept = kept.filter((step) => !isDropped(step));
  };
  // Replaced folders are never in each other: what is below one is deleted.
  const deleted = new Set(kept.filter((other) => other.post === undefined).map((other) => other.path));
  const lost = kept
    .filter(replacesFolder)
    .filter(({ path }) => !namesBelow(walker, path).every((one) => deleted.has(one)));
  if (lost.length > 0) {
    const folders = new Set(lost.map(({ path }) => path));
    drop(({ path }) => folders.has(path) || liesBelow(path, folders), HOST_FILES_LOST);
  }
  const created = new Set(kept.filter(({ post }) => post?.kind === 'dir').map((step) => step.path));
  const removed = new Set(
    kept.filter(({ post }) => post === undefined || post.kind !== 'dir').map((step) => step.path),
  );
  const isWithoutFolder = (step: Step): boolean => {
    const folder = parentPath(step.path);
    if (step.post === undefined || folder === '' || created.has(folder)) return false;
    return removed.has(folder) || !isFolder(walker, folder);
  };
  drop(isWithoutFolder, FOLDER_REMOVED, new Map([...left, ...outcomes].map((one) => [one.path, one])));
  return kept;
}

function isFolder(walker: HostWalker, folder: string): boolean {
  try {
    walker.enter(folder);
    return true;
  } catch (error) {
    if (error instanceof NotAFolder) return false;
    throw error;
  }
}
