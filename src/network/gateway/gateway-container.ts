import type { Container, ContainerSpec, Mount } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { gatewaySpec, INSIDE } from '../../engines/engine/hardening/hardened.ts';
import { gatewayMount } from '../companion/companion-place.ts';
import { GATEWAY_VOLUME } from './agent-side.ts';
import { companionName, servedPrograms } from './rules/program-host.ts';

/** Neither the agent's user nor a user of the host. images/finish.sh gives it the directory of the sockets. */
const GATEWAY_UID = 61_000;

export interface GatewayParts {
  readonly sessionId: string;
  readonly image: string;
  readonly seccomp: string;
  readonly volume: string;
  readonly network: string;
  /** The sockets of the agent's companions. */
  readonly companions: readonly Mount[];
}

export interface GatewayContainerOptions extends GatewayParts {
  /** Awaited before the start: the network and the container are made concurrently. */
  readonly networkMade: Promise<void>;
  /** Awaited before the start; a rejection removes the container. */
  readonly mayStart?: Promise<void> | undefined;
  /** Called when the volume is filled: the engine does this when it makes the first container that mounts it. */
  readonly filled?: () => void;
}

/** The volumes of the companions of a plan, as the gateway mounts them. */
export function companionMounts({ sessionId, policy }: Pick<Plan, 'sessionId' | 'policy'>): readonly Mount[] {
  return servedPrograms(policy).map(({ name }) => gatewayMount(sessionId, companionName(name)));
}

/** The request to the engine contains no secret. */
export function gatewayContainer({ volume, network, companions, ...parts }: GatewayParts): ContainerSpec {
  return gatewaySpec({
    sessionId: parts.sessionId,
    image: parts.image,
    seccomp: parts.seccomp,
    user: `${GATEWAY_UID}:${GATEWAY_UID}`,
    // No core dump, no inspector: the credential is in this process's memory.
    argv: [`${INSIDE}/init`, '--', '/usr/bin/env', 'node', '--max-old-space-size=320', `${INSIDE}/gateway/main.mjs`],
    mounts: [{ kind: 'volume', volume, target: GATEWAY_VOLUME, readonly: false, fill: true }, ...companions],
    stdin: 'stream',
    bridge: network,
    memoryMb: 768,
  });
}

/**
 * Creates and starts the gateway's container. The new volume starts as a copy of the image's directory for the sockets,
 * which belongs to the gateway's user; others may open names in it, but neither list nor change it. The container has the
 * engine's default runtime, whatever the agent's is: no agent runs in it, and the agent must see its sockets.
 */
export async function startContainer(engine: Runtime, options: GatewayContainerOptions): Promise<Container> {
  const { networkMade, mayStart, filled } = options;
  const container = await engine.create(gatewayContainer(options));
  filled?.();
  try {
    await networkMade;
    await mayStart;
    await container.start();
  } catch (error) {
    await container.remove();
    throw error;
  }
  return container;
}
