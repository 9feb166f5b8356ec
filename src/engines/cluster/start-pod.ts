import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { RunClaudeError } from '../../core/errors.ts';
import type { Container, ContainerSpec } from '../../core/types/engine.ts';
import type { GatewayPod } from '../render/own-pod.ts';
import type { ClusterObject } from './api.ts';
import { attachPod } from './attach.ts';
import type { ClusterEngineOptions } from './options.ts';
import { hasGateway, podName, sessionPod } from './pod.ts';
import { containerOf, removePod } from './pod-container.ts';
import { addressOf, nodeOf, type PodState, podState } from './pod-status.ts';
import type { SessionClaim } from './session-claim.ts';

/** What the pods of a session know of each other. */
export interface SessionPlaces {
  /** The node of all of them, once the first has one. */
  node?: Promise<string | undefined>;
  /** The address of the gateway's pod, where the agent has its own network. */
  gateway?: Promise<string>;
}

interface StartPodParts extends ClusterEngineOptions {
  readonly claim: SessionClaim;
  readonly places: SessionPlaces;
  /** What the gateway's door expects. */
  readonly word: string;
}

const POLL_MS = 300;
const MAX_POLL_MS = 2000;
/** From a node to a running container: the image is pulled in between. */
const START_LIMIT_MS = 15 * 60_000;

/**
 * Makes the pod of a container and attaches to it. Its program waits for start().
 *
 * @throws {RunClaudeError} IMAGE_PULL_FAILED, POD_REFUSED, POD_ENDED, POD_STUCK; the reason of the command's signal
 */
export async function startPod(spec: ContainerSpec, parts: StartPodParts): Promise<Container> {
  if (spec.role !== 'gateway' || parts.form !== 'pods') return makePod(spec, parts, () => undefined);
  // The agent's pod is made side by side, and waits for the address.
  let container: Promise<Container> | undefined;
  parts.places.gateway = new Promise((resolve, reject) => {
    container = makePod(spec, parts, (pod) => resolve(requireAddress(pod)));
    container.catch(reject);
  });
  parts.places.gateway.catch(() => undefined);
  return container as Promise<Container>;
}

async function makePod(
  spec: ContainerSpec,
  parts: StartPodParts,
  onRunning: (pod: ClusterObject) => void,
): Promise<Container> {
  const { api, access, claim } = parts;
  await claim.ready(!runsNextToAgent(spec));
  const volumes = await claim.volumes();
  for (const one of spec.mounts)
    if (one.kind === 'volume' && !volumes.has(one.volume))
      throw new RunClaudeError('WORKSPACE_GONE', `the volume ${one.volume} no longer exists in the cluster`);
  const name = podName(spec, randomBytes(4).toString('hex'));
  try {
    const gateway = await gatewayFor(spec, parts);
    const node = await nodeFor(parts, async (chosen) => {
      const options = { ...parts, gateway, name, claim: claim.name, volumes, removed: claim.removed(), node: chosen };
      await api.create('pods', sessionPod(spec, options));
      return untilScheduled(name, parts);
    });
    onRunning(await untilRunning(name, node, parts));
    const streams = await attachPod(access, api, name, spec.role);
    return containerOf(spec, name, streams, parts);
  } catch (error) {
    await removePod(name, api).catch(() => undefined);
    throw error;
  }
}

/** The gateway of an agent that reaches it over the network of the pods. */
async function gatewayFor(spec: ContainerSpec, { form, places, word }: StartPodParts): Promise<GatewayPod | undefined> {
  if (form !== 'pods' || spec.role !== 'agent' || !hasGateway(spec)) return undefined;
  if (places.gateway === undefined) throw new Error('the gateway of a session is made before its agent');
  return { address: await places.gateway, word };
}

function requireAddress(pod: ClusterObject): string {
  const address = addressOf(pod);
  if (address === undefined) throw new RunClaudeError('POD_REFUSED', "the cluster gave the gateway's pod no address");
  return address;
}

/** A collector of a command next to the one that runs the session. The session's pods are left as they are. */
const runsNextToAgent = ({ role, name }: ContainerSpec): boolean => role === 'collector' && /-watch-\d+$/.test(name);

/** The first pod of a session chooses the node: the claim is on it from then on. */
async function nodeFor(
  { places }: StartPodParts,
  make: (node: string | undefined) => Promise<string | undefined>,
): Promise<string | undefined> {
  if (places.node !== undefined) {
    const chosen = await places.node.catch(() => undefined);
    return make(chosen);
  }
  places.node = make(undefined);
  places.node.catch(() => {
    delete places.node;
  });
  return places.node;
}

/** Polls the pod's state until `isDone`. Reports why it waits. */
async function watchPod<T>(name: string, parts: StartPodParts, take: (pod: ClusterObject) => T) {
  const { api, signal, tell } = parts;
  let told = '';
  for (let pause = POLL_MS; ; pause = Math.min(pause * 1.2, MAX_POLL_MS)) {
    signal?.throwIfAborted();
    const found = await api.get('pods', name);
    if (found === undefined) throw new RunClaudeError('POD_ENDED', `pod ${name} was deleted before it ran`);
    const result = take(found);
    if (result !== undefined) return result;
    const state = podState(found);
    const isOrdinary = state.kind !== 'waiting' || /^(ContainerCreating|PodInitializing)?$/.test(state.why);
    if (!isOrdinary && state.why !== told) {
      told = state.why;
      tell({ kind: 'message', level: 'info', text: `Waiting for the cluster: ${state.why}` });
    }
    await sleep(pause, undefined, signal === undefined ? {} : { signal }).catch(() => signal?.throwIfAborted());
  }
}

function untilScheduled(name: string, parts: StartPodParts): Promise<string | undefined> {
  return watchPod(name, parts, (pod) => {
    refuseStuck(name, podState(pod), parts);
    return nodeOf(pod);
  });
}

async function untilRunning(name: string, node: string | undefined, parts: StartPodParts): Promise<ClusterObject> {
  const since = Date.now();
  return watchPod(name, parts, (pod) => {
    const state = podState(pod);
    refuseStuck(name, state, parts);
    if (state.kind === 'running') {
      requireImage(state.imageId, name, parts);
      return pod;
    }
    if (Date.now() - since > START_LIMIT_MS)
      throw new RunClaudeError('POD_STUCK', `pod ${name} does not start on node ${node ?? ''}`, {
        hint: `Look with: kubectl -n ${parts.api.namespace} describe pod ${name}`,
      });
    return undefined;
  });
}

function refuseStuck(name: string, state: PodState, { image, api }: StartPodParts): void {
  if (state.kind === 'ended')
    throw new RunClaudeError('POD_ENDED', `pod ${name} ended before its program started: ${state.why || 'no reason'}`);
  if (state.kind !== 'stuck') return;
  if (/Image/.test(state.reason))
    throw new RunClaudeError('IMAGE_PULL_FAILED', `the node cannot pull ${image}: ${state.why}`, {
      hint: 'Push the image of run-claude build there, and name it in [kubernetes] by its digest.',
    });
  throw new RunClaudeError('POD_REFUSED', `the node does not start pod ${name}: ${state.why}`, {
    hint: `deploy/kubernetes/README.md has what a node needs. Look with: kubectl -n ${api.namespace} describe pod ${name}`,
  });
}

/** A mistake, not an attack, shows here: a node can say what it likes. */
function requireImage(imageId: string, name: string, { image }: StartPodParts): void {
  const digest = /@sha256:[0-9a-f]{64}$/;
  const [wanted] = digest.exec(image) ?? [];
  const [has] = digest.exec(imageId) ?? [];
  if (has === undefined || has === wanted) return;
  throw new RunClaudeError('POD_REFUSED', `pod ${name} runs another image than ${image}: ${imageId}`);
}
