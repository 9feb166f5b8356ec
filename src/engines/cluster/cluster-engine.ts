import { randomBytes } from 'node:crypto';
import { RunClaudeError } from '../../core/errors.ts';
import type { Container, ContainerSpec, EngineFacts, PodForm } from '../../core/types/engine.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { placeOf } from '../capabilities/columns.ts';
import { refuseUnsupported } from '../capabilities/refuse.ts';
import { unpackInside } from '../engine/containers/unpack-inside.ts';
import { requireSessionId, sessionIdOf, volumeObject } from '../remote/session-volumes.ts';
import { GATEWAY_POD_PORT } from '../render/network-policy.ts';
import type { ClusterEngineOptions } from './options.ts';
import { LABELS } from './pod.ts';
import { openSessionClaim, removeSession, type SessionClaim, volumesIn } from './session-claim.ts';
import { type SessionPlaces, startPod } from './start-pod.ts';
import { type ClusterTarget, clusterText } from './target.ts';

/** Names of volumes of a session have its id in them. */

/**
 * An engine whose containers are pods of a cluster. The volumes of a session are directories of one claim, which outlives the
 * pods. The pods of a session run on one node.
 */
export function openClusterEngine(options: ClusterEngineOptions): Runtime {
  const { api, owner, target, form } = options;
  const facts = clusterFacts(target, form);
  const claims = new Map<string, SessionClaim>();
  const places = new Map<string, SessionPlaces>();
  const word = randomBytes(16).toString('hex');
  const containers = new Map<string, ContainerSpec>();
  /** Pods by session, until they are removed. */
  const live = new Map<string, Set<Container>>();
  const removals = new Set<Promise<void>>();
  /** Sessions whose agent was started here. */
  const begun = new Set<string>();
  const claimOf = (sessionId: string): SessionClaim => {
    const known = claims.get(sessionId);
    if (known !== undefined) return known;
    const isUsed = (): boolean => (live.get(sessionId)?.size ?? 0) > 0;
    const claim = openSessionClaim({ ...options, sessionId, isUsed });
    claims.set(sessionId, claim);
    return claim;
  };
  const create = async (spec: ContainerSpec): Promise<Container> => {
    refuseUnsupported(placeOf(facts), { spec });
    const { sessionId } = spec;
    const ofPods = places.get(sessionId) ?? {};
    places.set(sessionId, ofPods);
    const hasAgent = [...(live.get(sessionId) ?? [])].some(({ id }) => containers.get(id)?.role === 'agent');
    if (form === 'pods' && spec.role === 'gateway' && hasAgent) throw gatewayMoved();
    const started = await startPod(spec, { ...options, claim: claimOf(sessionId), places: ofPods, word });
    const ofSession = live.get(sessionId) ?? new Set();
    live.set(sessionId, ofSession);
    const container: Container = {
      ...started,
      async start() {
        if (spec.role === 'agent') begun.add(sessionId);
        await started.start();
      },
      async remove() {
        if (!ofSession.delete(container)) return;
        const removal = started.remove();
        removals.add(removal);
        await removal.finally(() => removals.delete(removal));
      },
    };
    ofSession.add(container);
    containers.set(container.id, spec);
    return container;
  };
  return {
    facts,
    lacks: options.lacks,
    gatewayDoor: form === 'pods' ? { port: GATEWAY_POD_PORT, word } : undefined,
    create,
    createVolume: async (volume) => {
      refuseUnsupported(placeOf(facts), { volume });
      await claimOf(requireSessionId(volume.name)).add(volume);
    },
    async findVolume(name) {
      const found = (await claimOf(requireSessionId(name)).volumes()).get(name);
      return found && { mountpoint: '', labels: found.labels };
    },
    removeVolume: (name) => claimOf(requireSessionId(name)).removeVolume(name),
    list: async (sessionId) => {
      if (sessionId !== undefined)
        return [...(await claimOf(sessionId).volumes()).keys()].map((name) => volumeObject(name, sessionId, 0));
      const found = await api.list('persistentvolumeclaims', `${LABELS.owner}=${owner}`);
      return found.flatMap(({ metadata }) => {
        const session = metadata?.labels?.[LABELS.session];
        if (typeof session !== 'string' || metadata?.labels?.[LABELS.owner] !== owner) return [];
        const made = Date.parse(String(metadata.creationTimestamp));
        const names = [...volumesIn({ metadata }, `run-claude-${session}`).keys()];
        // The cluster's word: what has no name that run-claude gives is not offered to gc.
        return names
          .filter((name) => sessionIdOf(name) === session)
          .map((name) => volumeObject(name, session, Number.isNaN(made) ? 0 : made));
      });
    },
    async putArchive(id, directory, tar) {
      await unpackInside({ spec: containers.get(id), directory, tar, create, where: 'the pod' });
    },
    async close() {
      for (const all of live.values()) for (const one of [...all]) await one.remove().catch(() => undefined);
      await Promise.allSettled(removals);
      for (const [sessionId, claim] of claims) {
        const volumes = await claim.volumes().catch(() => undefined);
        // No agent wrote to it, or it has no volumes, as one of probes.
        const isEmpty = volumes?.size === 0 || (claim.isNew() && !begun.has(sessionId));
        if (isEmpty) await removeSession({ api, owner, sessionId }).catch(() => undefined);
      }
    },
  };
}

/** What a plan needs to know. Init proves the layers in each container. */
function clusterFacts(target: ClusterTarget, form: PodForm): EngineFacts {
  return {
    kind: 'kubernetes',
    form,
    name: `Kubernetes (${target.context})`,
    version: '1',
    apiVersion: '',
    endpoint: clusterText(target),
    os: 'linux',
    arch: process.arch === 'x64' ? 'amd64' : process.arch,
    kernel: '',
    local: false,
    rootless: false,
    usernsRemap: false,
    cgroupVersion: 2,
    seccomp: true,
    memoryLimit: true,
    swapLimit: true,
    pidsLimit: true,
    cpuLimit: true,
    runtimes: [],
    dataRoot: '',
  };
}

/** The agent's pod has the address of the first one. */
function gatewayMoved(): RunClaudeError {
  return new RunClaudeError('POD_ENDED', "the gateway's pod ended, and another one would have another address");
}
