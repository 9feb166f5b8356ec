import type { Container, ContainerSpec } from '../../core/types/engine.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { placeOf } from '../capabilities/columns.ts';
import { refuseUnsupported } from '../capabilities/refuse.ts';
import { unpackInside } from '../engine/containers/unpack-inside.ts';
import { requireSessionId, volumeObject } from '../remote/session-volumes.ts';
import { createInJob } from './job-container.ts';
import { jobFacts } from './job-facts.ts';
import type { Scheduler } from './scheduler.ts';
import { openSessionDir, openSharedDir, openSharedVolumes, type SessionDir } from './session-dir.ts';
import { type JobLimits, openSessionJob, type SessionJob } from './session-job.ts';
import { removeSharedImage, sessionOfRest, sharedObjects } from './shared-objects.ts';
import type { JobTarget } from './target.ts';
import { type BundleOptions, volumeDir, writeOwnBundles } from './write-bundles.ts';

export interface JobEngineOptions extends BundleOptions {
  readonly scheduler: Scheduler;
  readonly target: JobTarget;
  /** A directory of each node's own disk. */
  readonly scratch: string;
  readonly limits: JobLimits;
  readonly accepted: readonly string[];
  readonly patienceSeconds: number;
  /** Of the state directory: gc removes what is its own. */
  readonly owner: string;
  /** How long a job may wait in the queue; undefined: until the user ends it. */
  readonly queueLimitMs: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * An engine whose containers run in jobs of a scheduler, one job for each session. Images are those of the user's own
 * engine, unpacked once in the shared directory. The volumes of a session are directories of the node; the job saves them
 * when it ends, and the next job of the session unpacks them.
 */
export function openJobEngine(options: JobEngineOptions): Runtime {
  const { local, shared, target, scheduler } = options;
  openSharedDir(shared, options.uid);
  const facts = jobFacts(local.facts, scheduler.title, { target, shared });
  const jobs = new Map<string, SessionJob>();
  const bases = openSharedVolumes(shared);
  const sessionOf = (id: string): SessionDir => openSessionDir(shared, id);
  const jobOf = (sessionId: string): SessionJob => {
    const known = jobs.get(sessionId);
    if (known !== undefined) return known;
    const job = openSessionJob({
      ...options,
      session: sessionOf(sessionId),
      sessionId,
      ownBundles: (runDir, work) => writeOwnBundles(options, lastImage, { runDir, work, sessionId }),
    });
    jobs.set(sessionId, job);
    return job;
  };
  let lastImage = '';
  const containers = new Map<string, ContainerSpec>();
  const filled = new Map<string, string>();
  const create = async (spec: ContainerSpec): Promise<Container> => {
    lastImage = spec.image;
    refuseUnsupported(placeOf(facts), { spec });
    const job = jobOf(spec.sessionId);
    const container = await createInJob(spec, { options, job, session: sessionOf(spec.sessionId), bases, filled });
    containers.set(container.id, spec);
    return container;
  };
  return {
    images: {
      ...local.images,
      remove: async (name) => (removeSharedImage(shared, name) ? undefined : local.images.remove(name)),
    },
    facts,
    create,
    async createVolume(volume) {
      if (bases.isShared(volume.name)) return bases.add(volume);
      const session = requireSessionId(volume.name, volume.labels);
      sessionOf(session).setOwner(options.owner);
      sessionOf(session).addVolume(volume);
    },
    async findVolume(name) {
      if (bases.isShared(name)) {
        const labels = bases.labels(name);
        return labels && { mountpoint: bases.dirOf(name), labels };
      }
      const sessionId = requireSessionId(name);
      const found = sessionOf(sessionId).volume(name);
      return found && { mountpoint: volumeDir(jobOf(sessionId), found.place), labels: found.labels };
    },
    async removeVolume(name) {
      if (bases.isShared(name)) return bases.remove(name);
      const rest = sessionOfRest(name);
      if (rest !== undefined) return sessionOf(rest).remove();
      const session = sessionOf(requireSessionId(name));
      session.removeVolume(name);
      if (session.volumes().length === 0 && !jobs.has(requireSessionId(name))) session.remove();
    },
    list: async (sessionId) =>
      sessionId === undefined
        ? sharedObjects(shared, options.owner, Date.now())
        : sessionOf(sessionId)
            .volumes()
            .map((name) => volumeObject(name, sessionId, 0)),
    async putArchive(id, directory, tar) {
      await unpackInside({ spec: containers.get(id), directory, tar, create, where: 'the job' });
    },
    async close() {
      await Promise.all([...jobs.values()].map((job) => job.close()));
      await local.close();
    },
  };
}
