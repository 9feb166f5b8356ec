import { type Selection, type SelectionRules, selectPaths } from '../../core/text/selection.ts';
import type { Plan } from '../../core/types/plan.ts';
import { gitGrafts } from '../scan/git-grafts.ts';
import { withoutIgnored } from '../scan/project-ignores.ts';
import type { WalkedTree } from '../scan/walk.ts';
import { countEntering, type Entering, type EnteringRules } from './entering.ts';
import { beginPrescan, type TakePrescan } from './prescan.ts';
import { VENDORED } from './shallow-git.ts';

export interface PrescanCount extends Pick<EnteringRules, 'typed'> {
  /** Takes what is copied, before a start takes the scan. */
  readonly onCounted: (entering: Entering) => void;
}

/**
 * Begins to scan the project before the engine is asked for anything; undefined where a start does not scan the project
 * as it is. Ends with the signal.
 */
export function prescanProject(
  { policy, project }: Pick<Plan, 'policy' | 'project'>,
  dir: string,
  signal: AbortSignal,
  { typed, onCounted }: PrescanCount = { typed: [], onCounted: () => undefined },
): TakePrescan | undefined {
  if (policy.mode !== 'copy' || policy.shallow) return undefined;
  const named = selectPaths(selectionRules(policy));
  const onWalked = (walked: WalkedTree): void => onCounted(countEntering(walked, { named, typed }));
  const selection = startSelection(policy, project.root);
  return beginPrescan({ dir, project: project.root, grafts: gitGrafts(project.root), selection, signal, onWalked });
}

/** What a session that starts takes from the project. */
export function startSelection(policy: Plan['policy'], root: string): Selection {
  const rules = selectionRules(policy);
  const selection = selectPaths(rules);
  return policy.copyIgnored === false ? withoutIgnored(selection, root, rules.include) : selection;
}

/** What is kept out of the copy, and out of what comes back. */
export function selectionRules(policy: Plan['policy']): SelectionRules {
  const { include, mask } = policy;
  const exclude = policy.shallow ? [...VENDORED, ...policy.exclude] : policy.exclude;
  return { exclude, include, mask };
}
