import type { EngineFacts } from '../../core/types/engine.ts';
import type { HostFacts, ProjectFacts } from '../../core/types/plan.ts';
import type { StrategyFacts } from '../../core/types/strategy.ts';

/** The user of this machine, and a number that no account has: see findSpareId. */
export type UserNumbers = Pick<HostFacts, 'uid' | 'gid'> & { readonly spareId: number };

/**
 * The uid:gid inside. It is 0 only where that is the host's user (rootless) or the project's owner (bind mode). `storage`
 * is where the files are that the agent works on: 'project' in bind mode.
 *
 * It is never the number of another account: an account with that number on the engine's machine could read the agent's
 * programs and write into the workspace of a session that runs.
 */
export function chooseUser(
  storage: 'project' | StrategyFacts['storage'],
  engine: EngineFacts,
  host: UserNumbers,
  project: Pick<ProjectFacts, 'ownerUid' | 'ownerGid'>,
): { readonly user: string; readonly weakening?: string } {
  if (engine.hasOneUser === true) return { user: '0:0' };
  // The accounts of the engine's machine are others than those of this one.
  if (storage === 'engine' && !engine.local) return { user: numbersOf(host.spareId, host.spareId) };
  if (storage === 'engine' || engine.usernsRemap) return { user: unlessRoot(host) };
  // Rootless: 0 inside is the host's user outside, without capabilities.
  if (engine.rootless) return { user: '0:0' };
  if (storage !== 'project') return { user: unlessRoot(host) };
  if (project.ownerUid !== 0) {
    const { ownerUid, ownerGid } = project;
    const weakening = `the agent has uid ${ownerUid}, the project owner's: that account can read its variables and use its network`;
    return { user: numbersOf(ownerUid, ownerGid), ...(ownerUid === host.uid || !engine.local ? {} : { weakening }) };
  }
  return {
    user: '0:0',
    weakening: 'the project belongs to root, so the agent is uid 0 inside (without capabilities)',
  };
}

function unlessRoot({ uid, gid, spareId }: UserNumbers): string {
  return uid === 0 ? numbersOf(spareId, spareId) : numbersOf(uid, gid);
}

function numbersOf(uid: number, gid: number): string {
  return `${uid}:${gid}`;
}
