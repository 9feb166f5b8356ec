import { usageError } from '../errors.ts';
import type { HostFacts } from '../types/plan.ts';

/**
 * Refuses a directory (a real path) that no agent may get: `/`, the home directory, its parents, and every directory that
 * contains or is inside run-claude's own, which hold sessions and their evidence.
 *
 * @throws {RunClaudeError} USAGE
 */
export function refuseProject(
  root: string,
  host: Pick<HostFacts, 'home' | 'stateDir' | 'cacheDir' | 'dataDir' | 'configDir'>,
): void {
  const hint = 'Name the folder of one project.';
  if (root === '/') throw usageError('/ is not a project', hint);
  if (contains(root, host.home)) throw usageError(`${root} is or contains your home directory`, hint);
  for (const own of [host.stateDir, host.cacheDir, host.dataDir, host.configDir]) {
    if (contains(root, own)) throw usageError(`${root} contains run-claude's own files (${own})`, hint);
    if (contains(own, root)) throw usageError(`${root} is one of run-claude's own directories`, hint);
  }
}

/** Whether `inner` is `outer` or below it. Both are absolute and real. */
export function contains(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`);
}
