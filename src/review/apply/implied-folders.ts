import type { ChosenChange } from '../../core/types/review.ts';
import type { ApplyRequest } from './apply-request.ts';

/** A file in a folder that the session made brings the folder with it. */
export function withImpliedFolders({ choice }: ApplyRequest): readonly ChosenChange[] {
  const have = new Set(choice.chosen.map(({ change }) => change.path as string));
  const folders = new Map(choice.folders.map((change) => [change.path as string, change]));
  const implied: ChosenChange[] = [];
  for (const { change } of choice.chosen) {
    if (change.after === undefined) continue;
    for (let at = change.path.indexOf('/'); at > 0; at = change.path.indexOf('/', at + 1)) {
      const folder = folders.get(change.path.slice(0, at));
      if (folder === undefined || have.has(folder.path)) continue;
      have.add(folder.path);
      implied.push({ change: folder });
    }
  }
  return [...implied, ...choice.chosen].sort((a, b) => (a.change.path < b.change.path ? -1 : 1));
}
