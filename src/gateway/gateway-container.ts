import { gatewaySpec, INSIDE } from '../engine/hardening/hardened.ts';
import type { Container, ContainerSpec, Engine } from '../types/engine.ts';
import { GATEWAY_VOLUME } from './agent-side.ts';

/** Neither the agent's user nor anybody's on the host; images/finish.sh gives it the directory of the sockets. */
const GATEWAY_UID = 61_000;

export interface GatewayParts {
  readonly sessionId: string;
  readonly image: string;
  readonly seccomp: string;
  readonly volume: string;
  readonly network: string;
}

export interface GatewayContainerOptions extends GatewayParts {
  /** Waited for before the start: the network is made while the container is. */
  readonly networkMade: Promise<void>;
  /** Called once the volume has its directory: the engine fills it when the first container that mounts it is made. */
  readonly filled: () => void;
}

/** Nothing secret is in what the engine is told. */
export function gatewayContainer({ volume, network, ...parts }: GatewayParts): ContainerSpec {
  return gatewaySpec({
    sessionId: parts.sessionId,
    image: parts.image,
    seccomp: parts.seccomp,
    user: `${GATEWAY_UID}:${GATEWAY_UID}`,
    // No core, no inspector: the credential is in this process's memory.
    argv: [`${INSIDE}/init`, '--', '/usr/bin/env', 'node', '--max-old-space-size=320', `${INSIDE}/gateway/main.mjs`],
    mounts: [{ kind: 'volume', volume, target: GATEWAY_VOLUME, readonly: false, fill: true }],
    stdin: 'stream',
    bridge: network,
    memoryMb: 768,
  });
}

/**
 * Creates and starts the gateway's container. The fresh volume takes the image's directory for the sockets over, which
 * is its user's and which others may reach into by name and neither list nor change. It has the engine's own runtime,
 * whatever the agent's is: no agent runs in it, and the agent must find its sockets.
 */
export async function startContainer(engine: Engine, options: GatewayContainerOptions): Promise<Container> {
  const { networkMade, filled } = options;
  const container = await engine.create(gatewayContainer(options));
  filled();
  try {
    await networkMade;
    await container.start();
  } catch (error) {
    await container.remove();
    throw error;
  }
  return container;
}
