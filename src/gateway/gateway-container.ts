import { pack } from 'tar-stream';
import { gatewaySpec, INSIDE } from '../engine/hardened.ts';
import type { Container, Engine } from '../types/engine.ts';
import { GATEWAY_VOLUME } from './agent-side.ts';

/** Neither the agent's user nor anybody's on the host. */
const GATEWAY_UID = 61_000;

export interface GatewayContainerOptions {
  readonly sessionId: string;
  readonly image: string;
  readonly seccomp: string;
  readonly volume: string;
  readonly network: string;
  readonly runtime: string | undefined;
}

/**
 * Creates and starts the gateway's container. The volume is given to its user, with a directory that others may reach
 * into by name and neither list nor change. Nothing secret is in what the engine is told.
 */
export async function startContainer(engine: Engine, options: GatewayContainerOptions): Promise<Container> {
  const { sessionId, image, seccomp, volume, network, runtime } = options;
  const container = await engine.create(
    gatewaySpec({
      sessionId,
      image,
      seccomp,
      user: `${GATEWAY_UID}:${GATEWAY_UID}`,
      // No core, no inspector: the credential is in this process's memory.
      argv: [`${INSIDE}/init`, '--', '/usr/bin/env', 'node', '--max-old-space-size=320', `${INSIDE}/gateway/main.mjs`],
      mounts: [{ kind: 'volume', volume, target: GATEWAY_VOLUME, readonly: false }],
      stdin: 'stream',
      bridge: network,
      runtime,
    }),
  );
  const tar = pack();
  tar.entry({ name: './sockets/', type: 'directory', mode: 0o711, uid: GATEWAY_UID, gid: GATEWAY_UID });
  tar.finalize();
  try {
    await engine.putArchive(container.id, GATEWAY_VOLUME, tar);
    await container.start();
  } catch (error) {
    await container.remove();
    throw error;
  }
  return container;
}
