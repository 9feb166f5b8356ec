import { parentPath } from '../../../../core/text/path.ts';
import type { ChangeOutcome, ChangeVerdict } from '../../../../core/types/session.ts';

/**
 * Why a change cannot be applied whose folder is not applied either; undefined where every folder above it is applied
 * or not among the outcomes. The verdict is that of the folder: the decision about a folder includes what is below it.
 */
export function heldFolder(
  path: string,
  outcomes: ReadonlyMap<string, ChangeOutcome>,
): { readonly verdict: ChangeVerdict; readonly why: string } | undefined {
  for (let folder = parentPath(path); folder !== ''; folder = parentPath(folder)) {
    const held = outcomes.get(folder);
    if (held === undefined || held.verdict === 'same' || held.verdict === 'applied') continue;
    return { verdict: held.verdict, why: `its folder ${folder} is not applied (${held.verdict})` };
  }
  return undefined;
}
