import type { FileSet } from '../../../core/types/change/file-set.ts';
import { isScratchMember } from '../../choices/file-sets.ts';
import { versionHost } from '../disk/host/host-entry.ts';
import type { HostWalker } from '../disk/host/host-path.ts';
import type { OtherMember } from '../disk/journal/journal-format.ts';
import { isOnePath } from '../disk/steps/step-failure.ts';

/** The files of a thing that the host has and that no chosen change is about (`isChosen`), as they are now. */
export function otherMembers(set: FileSet, isChosen: (path: string) => boolean, walker: HostWalker): OtherMember[] {
  return set.members.flatMap((path) => {
    if (isChosen(path) || isScratchMember(set, path)) return [];
    const version = versionAt(walker, path);
    return version === undefined ? [] : [{ path, version }];
  });
}

/** The first file of a thing that is not as an apply left it, or that is new: only its own files are undone. */
export function changedMember(
  set: FileSet,
  isChosen: (path: string) => boolean,
  { walker, recorded }: { readonly walker: HostWalker; readonly recorded: ReadonlyMap<string, string> },
): string | undefined {
  return set.members.find(
    (path) => !isChosen(path) && !isScratchMember(set, path) && versionAt(walker, path) !== recorded.get(path),
  );
}

function versionAt(walker: HostWalker, path: string): string | undefined {
  try {
    return versionHost(walker, path);
  } catch (error) {
    if (!isOnePath(error)) throw error;
    return undefined;
  }
}
