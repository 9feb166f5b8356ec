import { type Selection, type SelectionRules, selectPaths } from '../../core/text/selection.ts';
import type { Plan } from '../../core/types/plan.ts';
import { gitGrafts } from '../scan/git/git-grafts.ts';
import type { Graft } from '../scan/list-directories.ts';
import { gitPathsOnDisk, withoutIgnored } from '../scan/project-ignores.ts';
import type { MaskedTree } from '../secrets/mask-secrets.ts';
import { maskedOnDisk } from '../secrets/masked-on-disk.ts';
import { countEntering, type Entering, type EnteringRules } from './entering.ts';
import { beginPrescan, type TakePrescan } from './prescan.ts';
import { SHALLOW_COMMITS, VENDORED } from './shallow-git.ts';

export interface ProjectPrescan {
  readonly take: TakePrescan;
  /** What is copied; undefined where the project cannot be read. */
  readonly counted: Promise<Entering | undefined>;
}

/** Nothing in place of `.git`: that of a shallow copy is made from it only when the user has agreed. */
const WITHOUT_GIT: ReadonlyMap<string, readonly Graft[]> = new Map([['.git', []]]);

/**
 * Begins to scan the project before the engine is asked for anything; undefined where a start does not scan the project
 * as it is. Ends with the signal.
 */
export function prescanProject(
  { policy, project }: Pick<Plan, 'policy' | 'project'>,
  dir: string,
  signal: AbortSignal,
  { typed }: Pick<EnteringRules, 'typed'> = { typed: [] },
): ProjectPrescan | undefined {
  if (policy.mode !== 'copy') return undefined;
  const { root } = project;
  const named = selectPaths(selectionRules(policy));
  const git = gitPathsOnDisk(root);
  const isIgnored = policy.copyIgnored === false ? undefined : git.isLeftOut;
  const selection = startSelection(policy, root);
  let onWalked: (walked: MaskedTree | undefined) => void = () => undefined;
  const counted = new Promise<Entering | undefined>((resolve) => {
    onWalked = (walked) => resolve(walked && countEntering(walked, { named, typed, isIgnored, commits }));
  });
  const { unmask = [], shallow } = policy;
  const commits = shallow ? SHALLOW_COMMITS : undefined;
  const grafts = shallow ? WITHOUT_GIT : gitGrafts(root);
  const take = beginPrescan({ dir, project: root, grafts, selection, unmask, git, signal, onWalked });
  // The start walks again, with the `.git` that it has made.
  return { take: shallow ? () => undefined : take, counted };
}

/** What a session that starts takes from the project. */
export function startSelection(policy: Plan['policy'], root: string): Selection {
  const rules = selectionRules(policy);
  const selection = selectPaths(rules);
  return policy.copyIgnored === false ? withoutIgnored(selection, root, rules.include) : selection;
}

/** What a setup, a cache or a service may read of the project: no more than the agent, so no file with masked secrets. */
export function readableSelection(policy: Plan['policy'], root: string): Selection {
  const selection = startSelection(policy, root);
  const isMasked = maskedOnDisk(root, policy.unmask ?? []);
  const isSecret = (path: string): boolean => {
    try {
      return isMasked(path);
    } catch {
      // What cannot be judged is not read.
      return true;
    }
  };
  return { ...selection, masked: (path) => selection.masked(path) || isSecret(path) };
}

/** What is kept out of the copy, and out of what comes back. */
export function selectionRules(policy: Plan['policy']): SelectionRules {
  const { include, mask } = policy;
  const exclude = policy.shallow ? [...VENDORED, ...policy.exclude] : policy.exclude;
  return { exclude, include, mask };
}
