import type { GitObjects } from '../../../review/commits/git-objects.ts';

/** The commit that is checked out; undefined before the first one of a repository. Throws usageError without a repository. */
export async function headOf(git: GitObjects): Promise<string | undefined> {
  try {
    return await git.commit('HEAD');
  } catch (error) {
    if (await git.isUnborn()) return undefined;
    throw error;
  }
}

/** Names of branches that others usually start from, the most exact first. */
const USUAL_BASES = ['origin/HEAD', 'origin/main', 'origin/master', 'main', 'master'];

/** The branch that HEAD most likely started from: the first usual one that has not all of its commits. */
export async function likelyBase(git: GitObjects): Promise<string | undefined> {
  const head = await git.commit('HEAD');
  for (const name of USUAL_BASES) {
    const tip = await git.commit(name).catch(() => undefined);
    if (tip === undefined) continue;
    const common = await git.commonCommit(head, [tip]);
    if (common !== undefined && common !== head) return name;
  }
  return undefined;
}
