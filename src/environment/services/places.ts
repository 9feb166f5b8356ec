import type { Mount } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Service } from '../../core/types/policy.ts';
import { companionVolume, peerMount, socketInPeer } from '../../network/companion/companion-place.ts';

/** What a container needs to reach services. */
export interface ServiceDoors {
  readonly mounts: readonly Mount[];
  /** For init's --forward. */
  readonly forwards: readonly string[];
  /** Names of 127.0.0.1. */
  readonly names: readonly string[];
}

/** How the agent of a plan reaches its services: each on its port of 127.0.0.1, under its name too. */
export function serviceDoors({ policy, sessionId }: Pick<Plan, 'policy' | 'sessionId'>): ServiceDoors {
  return doorsTo(policy.services ?? [], sessionId);
}

/** A container with these can connect to the sockets of the services, and do nothing else in their volumes. */
export function doorsTo(services: readonly Service[], sessionId: string): ServiceDoors {
  return {
    mounts: services.map(({ name }) => peerMount(sessionId, companionOf(name))),
    forwards: services.map(({ name, port }) => `${port}=${socketInPeer(companionOf(name))}`),
    names: services.map(({ name }) => name),
  };
}

/** A service among the companions of its session. Names of MCP servers and of services have no dot. */
export const companionOf = (name: string): string => `service.${name}`;

/** The volume with a service's data, which is removed with the session. */
export const dataVolume = (sessionId: string, name: string): string =>
  `${companionVolume(sessionId, companionOf(name))}.data`;

/** Where every image has an empty directory of the services' user, of which a fresh volume becomes a copy. */
export const OWNED_DATA = '/run/run-claude/data';
/** Where a service finds what its seed made. */
export const SEED_DATA = '/run/run-claude/seed';
/** Where the seed finds the files of the project. */
export const SEED_FILES = '/seed';
