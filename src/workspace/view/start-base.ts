import type { Plan } from '../../core/types/plan.ts';
import type { SecretFile } from '../../core/types/secret/secret-file.ts';
import { STRATEGIES } from '../../core/types/strategy.ts';
import type { BaseGeneration } from '../base/base.ts';
import { releaseRef } from '../base/generations/generation-refs.ts';
import { prepareBase } from '../base/prepare-base.ts';
import { startSelection } from '../base/prescan-project.ts';
import { SHALLOW_COMMITS, shallowGit } from '../base/shallow-git.ts';
import type { WorkspaceOptions } from '../layer/layer.ts';
import { ownerInside } from '../layer/places.ts';
import { releaseVolumeBase } from '../layer/volumes/volume-base.ts';
import { gitDirOf, gitGrafts } from '../scan/git/git-grafts.ts';
import { pathsInHistory } from '../scan/git/git-history.ts';
import { gitLimits } from '../scan/git/git-limits.ts';
import type { Graft } from '../scan/list-directories.ts';

/** Prepares the base for a session that starts, and reports what was left out of it. Throws as prepareBase does. */
export async function startBase(options: WorkspaceOptions): Promise<BaseGeneration> {
  const { plan, tell } = options;
  const { project, policy } = plan;
  const selection = startSelection(policy, project.root);
  const base = await prepareBase({
    dir: plan.baseDir,
    project: project.root,
    grafts: policy.shallow ? await shallowGrafts(plan, tell) : gitGrafts(project.root),
    selection,
    unmask: policy.unmask ?? [],
    owner: ownerInside(plan.user),
    sessionId: plan.sessionId,
    sessionDir: plan.sessionDir,
    verify: policy.verify,
    stack: plan.strategy !== 'bind' && STRATEGIES[plan.strategy].joinsGenerations,
    tell,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    ...(options.prescan === undefined ? {} : { prescan: options.prescan }),
  });
  const list = (what: string, paths: readonly string[]): void => {
    const more = paths.length > 8 ? ` and ${paths.length - 8} more` : '';
    if (paths.length > 0)
      tell({ kind: 'message', level: 'info', text: `${what}: ${paths.slice(0, 8).join(', ')}${more}` });
  };
  list(
    'Left out of the copy',
    base.leftOut.map(({ path: one, why }) => `${one} (${why})`),
  );
  list(policy.copyIgnored === false ? 'Excluded, ignored or masked' : 'Excluded or masked', base.withheld);
  const inState = (state: SecretFile['state']): string[] =>
    base.secrets.flatMap((one) => (one.state === state ? [one.path] : []));
  // With a prescan the start screen has them.
  if (options.prescan === undefined) {
    list('Masked, since they hold secrets', inState('masked'));
    list('Not masked, since git has them', inState('tracked'));
    list('Not masked, although they hold secrets', inState('by-content'));
  }
  await warnOfHistory(options, base.withheld);
  list("Left out of the copy's git configuration", base.dropped);
  for (const text of gitLimits(project.root)) tell({ kind: 'message', level: 'warning', text });
  list('Git objects that this project borrows are in the copy', base.lenders);
  return base;
}

/** `.git` cut to the last commits, where the project has one of its own. */
async function shallowGrafts(
  { project, baseDir }: Plan,
  tell: WorkspaceOptions['tell'],
): Promise<ReadonlyMap<string, readonly Graft[]>> {
  const gitDir = gitDirOf(project.root);
  if (gitDir === undefined || project.gitCommonDir === undefined) return new Map();
  const source = await shallowGit({ gitDir, commonDir: project.gitCommonDir, dir: baseDir });
  const text = `Shallow: the last ${SHALLOW_COMMITS} commits of HEAD, no vendored folders (--include brings one back)`;
  tell({ kind: 'message', level: 'info', text });
  return new Map([['.git', [{ source, without: [] }]]]);
}

/** Warns that git's history, which is copied in full, shows the agent what is withheld from the copy. */
async function warnOfHistory({ plan, tell }: WorkspaceOptions, withheld: readonly string[]): Promise<void> {
  const { gitCommonDir, root } = plan.project;
  if (withheld.length === 0 || gitCommonDir === undefined) return;
  const { found, unsure } = await pathsInHistory(gitCommonDir, root, withheld);
  const warn = (text: string): void => tell({ kind: 'message', level: 'warning', text });
  if (found.length > 0)
    warn(`Excluded or masked, and still in git's history, which the agent can read: ${found.join(', ')}`);
  if (unsure) warn("Git's history, which is copied in full, may hold more of what is excluded or masked.");
}

/** Removes the session's references to generations, on this machine and in engines. */
export function releaseBases(baseDir: string, sessionId: string): void {
  releaseRef(baseDir, sessionId);
  releaseVolumeBase(baseDir, sessionId);
}
