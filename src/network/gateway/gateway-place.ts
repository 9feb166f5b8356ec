import type { Container } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { endsTls, gatewayNames } from './agent-side.ts';
import { companionMounts, type GatewayContainerOptions, startContainer } from './gateway-container.ts';

/** The session whose gateway it is. */
export interface PlaceOptions {
  readonly engine: Runtime;
  readonly plan: Plan;
  /** An agent runs already and mounts the volume of a gateway that has ended. This gateway replaces it. */
  readonly agentRuns?: boolean;
}

/** The volume with the gateway's sockets, and the network of the gateway's container. */
export interface GatewayPlace {
  readonly volume: string;
  readonly network: string;
  readonly volumeMade: Promise<void>;
  readonly networkMade: Promise<void>;
  /** A volume that an agent still mounts stays for the next gateway. */
  remove(agentStays: boolean): Promise<void>;
}

/** Begins to make the volume and the network. */
export function makePlace({ engine, plan, agentRuns = false }: PlaceOptions): GatewayPlace {
  const { volume, network } = gatewayNames(plan.sessionId);
  const labels = { 'run-claude.session': plan.sessionId };
  const networkMade = engine.networks?.create(network, labels) ?? Promise.resolve();
  const networkSettled = networkMade.catch(() => undefined);
  // The volume of a command that was killed has sockets in it.
  const emptied = agentRuns ? Promise.resolve() : engine.removeVolume(volume);
  return {
    volume,
    network,
    networkMade,
    volumeMade: emptied.then(() => engine.createVolume({ name: volume, labels })),
    async remove(agentStays) {
      await networkSettled;
      const volumeRemoved = agentStays ? Promise.resolve() : engine.removeVolume(volume);
      await Promise.all([volumeRemoved, engine.networks?.remove(network, 'unawaited')]);
    },
  };
}

/** The first container of a session's gateway, which is made before its configuration is known. */
export interface FirstContainer {
  readonly container: Promise<Container>;
  /** Resolves when the agent's container may start; stays pending when the container fails before. */
  readonly prepared: Promise<unknown>;
  /** Lets it start. */
  readonly begin: () => void;
  /** Removes it where it has not begun to start. */
  readonly cancel: () => void;
}

/** Without its configuration, which is the first line that its program reads, the container does nothing. */
export function makeFirst(options: PlaceOptions, place: GatewayPlace, seccomp: string): FirstContainer {
  let filled: () => void = () => undefined;
  const volumeFilled = new Promise<void>((resolve) => {
    filled = resolve;
  });
  let begin: () => void = () => undefined;
  let cancel: () => void = () => undefined;
  const begun = new Promise<void>((resolve, reject) => {
    begin = resolve;
    cancel = () => reject(new Error('the session ended before its gateway was started'));
  });
  begun.catch(() => undefined);
  const { facts, gatewayDoor } = options.engine;
  const isPodman = facts.kind === 'podman';
  // The program waits: for the certificate where requests are read, or for the door.
  const isWaitedFor = endsTls(options.plan.policy) || gatewayDoor !== undefined;
  const isAwaited = isPodman || options.agentRuns === true || isWaitedFor;
  const mayStart = isAwaited ? undefined : begun;
  const container = startContainer(options.engine, { ...containerParts(options, place, seccomp), mayStart, filled });
  // Its failure is reported where the container is used.
  container.catch(() => undefined);
  // The agent's container must not be the first that mounts the volume. Docker fills the volume when a container is
  // created; Podman fills it, and gives it to the container's user, when one starts.
  const prepared = isPodman ? container : Promise.all([volumeFilled, place.networkMade]);
  return { container, prepared, begin, cancel };
}

/** What each container of the session's gateway has. */
export function containerParts(
  { plan }: PlaceOptions,
  { volume, network, networkMade }: GatewayPlace,
  seccomp: string,
): GatewayContainerOptions {
  const { sessionId, ownImage: image = plan.image } = plan;
  return { sessionId, image, seccomp, volume, network, networkMade, companions: companionMounts(plan) };
}
