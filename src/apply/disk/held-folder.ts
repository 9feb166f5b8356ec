import { parentPath } from '../../text/path.ts';
import type { ChangeOutcome, Verdict } from '../../types/session.ts';

/**
 * Why a change cannot be applied whose folder is not applied either; undefined where no folder above it is among the
 * outcomes. It has the verdict of the folder: that decision also decides what is below it.
 */
export function heldFolder(
  path: string,
  outcomes: ReadonlyMap<string, ChangeOutcome>,
): { readonly verdict: Verdict; readonly why: string } | undefined {
  for (let folder = parentPath(path); folder !== ''; folder = parentPath(folder)) {
    const held = outcomes.get(folder);
    if (held === undefined || held.verdict === 'same' || held.verdict === 'applied') continue;
    return { verdict: held.verdict, why: `it goes into ${folder}, which is not applied (${held.verdict})` };
  }
  return undefined;
}
