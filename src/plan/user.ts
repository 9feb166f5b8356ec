import type { EngineFacts } from '../types/engine.ts';
import type { HostFacts, ProjectFacts } from '../types/plan.ts';
import type { StrategyFacts } from '../types/strategy.ts';

/** The image's own user: used where the host's user is root. */
const IMAGE_USER = '1000:1000';

/**
 * The uid:gid inside. It is 0 only where that is the host's user (rootless) or the project's owner (bind mode). `storage`
 * is where the files are that the agent works on: 'project' in bind mode.
 */
export function chooseUser(
  storage: 'project' | StrategyFacts['storage'],
  engine: EngineFacts,
  host: Pick<HostFacts, 'uid' | 'gid'>,
  project: Pick<ProjectFacts, 'ownerUid' | 'ownerGid'>,
): { readonly user: string; readonly weakening?: string } {
  if (engine.hasOneUser === true) return { user: '0:0' };
  if (storage === 'engine' || engine.usernsRemap) return { user: unlessRoot(host) };
  // Rootless: 0 inside is the host's user outside, without capabilities.
  if (engine.rootless) return { user: '0:0' };
  if (storage !== 'project') return { user: unlessRoot(host) };
  if (project.ownerUid !== 0) return { user: `${project.ownerUid}:${project.ownerGid}` };
  return {
    user: '0:0',
    weakening: 'the project belongs to root, so the agent is uid 0 inside (without capabilities)',
  };
}

function unlessRoot(host: Pick<HostFacts, 'uid' | 'gid'>): string {
  return host.uid === 0 ? IMAGE_USER : `${host.uid}:${host.gid}`;
}
