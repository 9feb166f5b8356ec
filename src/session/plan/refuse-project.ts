import { usageError } from '../../core/errors.ts';
import type { HostFacts } from '../../core/types/plan.ts';

/** Names what is at an absolute path, so that two spellings of one directory compare equal. */
type IdentityOf = (path: string) => string;

/**
 * Refuses a directory (a real path) that no agent may get: `/`, the home directory, its parents, and every directory that
 * contains or is inside run-claude's own, which hold sessions and their evidence. With `identityOf`, directories are
 * compared by what they are: another letter case and a bind mount of the home directory are refused as well.
 *
 * @throws {RunClaudeError} USAGE
 */
export function refuseProject(
  root: string,
  host: Pick<HostFacts, 'home' | 'stateDir' | 'cacheDir' | 'dataDir' | 'configDir'>,
  identityOf: IdentityOf = (path) => path,
): void {
  const hint = 'Name the folder of one project.';
  const holds = (outer: string, inner: string): boolean => contains(outer, inner, identityOf);
  if (identityOf(root) === identityOf('/')) throw usageError(`${root} is not a project`, hint);
  if (holds(root, host.home)) throw usageError(`${root} is or contains your home directory`, hint);
  for (const own of [host.stateDir, host.cacheDir, host.dataDir, host.configDir]) {
    if (holds(root, own)) throw usageError(`${root} contains run-claude's own files (${own})`, hint);
    if (holds(own, root)) throw usageError(`${root} is one of run-claude's own directories`, hint);
  }
}

/** Whether `inner` is `outer` or below it. Both are absolute and real. */
export function contains(outer: string, inner: string, identityOf: IdentityOf = (path) => path): boolean {
  const sought = identityOf(outer);
  for (let at = inner; ; at = parentOf(at)) {
    if (identityOf(at) === sought) return true;
    if (at === '/') return false;
  }
}

function parentOf(absolute: string): string {
  return absolute.slice(0, absolute.lastIndexOf('/')) || '/';
}
