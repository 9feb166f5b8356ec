import { usageError } from '../errors.ts';
import type { HostFacts } from '../types/plan.ts';

/**
 * Throws usageError when a directory (a real path) must never be given to an agent: `/`, the home directory or what
 * is above it, and whatever holds or lies in our own directories, where sessions and their evidence are.
 */
export function refuseProject(
  root: string,
  host: Pick<HostFacts, 'home' | 'stateDir' | 'cacheDir' | 'dataDir' | 'configDir'>,
): void {
  const hint = 'Name the folder of one project.';
  if (root === '/') throw usageError('/ is no project', hint);
  if (contains(root, host.home)) throw usageError(`${root} is, or holds, your home directory`, hint);
  for (const ours of [host.stateDir, host.cacheDir, host.dataDir, host.configDir]) {
    if (contains(root, ours)) throw usageError(`${root} holds run-claude's own files (${ours})`, hint);
    if (contains(ours, root)) throw usageError(`${root} is one of run-claude's own directories`, hint);
  }
}

/** Whether a path is another, or lies below it; both absolute and real. */
export function contains(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`);
}
