import { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { RunClaudeError } from '../errors.ts';
import type { Container, ContainerSpec, Engine, EngineFacts, FoundObject, ImageFacts } from '../types/engine.ts';
import { containerBody, OWNER_LABEL, SESSION_LABEL } from './body.ts';
import { buildImage, IMAGE_LABEL, importImage, pullImage } from './build.ts';
import type { Client } from './connection/client.ts';
import { attachContainer, removeContainer } from './container.ts';
import { asking, isGone } from './failure.ts';
import { isProved, withProof } from './hardening/proof.ts';
import { createOnPodman, findOverlays, inspectOnPodman } from './podman.ts';
import type { Overlays } from './podman-body.ts';

/** Each difference between what was asked and what the engine recorded, one line each. */
export type CompareRecord = (spec: ContainerSpec, record: unknown, overlays: Overlays) => readonly string[];

export interface EngineOptions {
  readonly facts: EngineFacts;
  /** The label `run-claude.owner` of everything made here; list() sees nothing else. */
  readonly owner: string;
  readonly compare: CompareRecord;
}

/** The engine behind a connection that has answered. */
export function openEngine(client: Client, { facts, owner, compare }: EngineOptions): Engine {
  const withDocker = async <T>(doing: string, request: (docker: Docker) => Promise<T>): Promise<T> => {
    const docker = await client.docker();
    return asking(doing, () => request(docker));
  };
  const unlessGone = (doing: string, request: (docker: Docker) => Promise<unknown>): Promise<void> =>
    withDocker(doing, async (docker) => {
      try {
        await request(docker);
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    });
  return {
    facts,
    create: (spec) =>
      withDocker('create the container', async (docker) => {
        const proved = withProof(spec);
        if (facts.kind === 'podman') {
          const overlays = await findOverlays(docker, spec);
          const made = await createOnPodman(docker, proved, { owner, overlays, cgroupVersion: facts.cgroupVersion });
          return verify(client, made, proved, async () =>
            compare(proved, await inspectOnPodman(docker, made.id), overlays),
          );
        }
        const image = readImageFacts(await inspectImage(client, spec.image));
        const made = await docker.createContainer(containerBody(proved, owner, image?.variables));
        return verify(client, made, proved, async () => compare(proved, await made.inspect(), new Map()));
      }),
    find: (name) => withDocker('find the container', (docker) => findContainer(client, docker, name, owner)),
    createVolume: (spec) =>
      withDocker('create the volume', async (docker) => {
        const labels = { ...spec.labels, [OWNER_LABEL]: owner };
        await docker.createVolume({
          Name: spec.name,
          Driver: 'local',
          Labels: labels,
          DriverOpts: { ...spec.options },
        });
      }),
    findVolume: (name) =>
      withDocker('find the volume', async (docker) => {
        try {
          const { Mountpoint, Labels } = await docker.getVolume(name).inspect();
          return { mountpoint: Mountpoint, labels: Labels ?? {} };
        } catch (error) {
          if (isGone(error)) return undefined;
          throw error;
        }
      }),
    removeVolume: (name) => unlessGone('remove the volume', (docker) => docker.getVolume(name).remove()),
    createNetwork: (name, labels) =>
      withDocker('create the network', async (docker) => {
        const Labels = { ...labels, [OWNER_LABEL]: owner };
        await docker.createNetwork({ Name: name, Driver: 'bridge', CheckDuplicate: true, Labels });
      }),
    removeNetwork: (name, how) =>
      how === 'unawaited' && facts.local
        ? client.send('DELETE', `/networks/${encodeURIComponent(name)}`)
        : unlessGone('remove the network', (docker) => docker.getNetwork(name).remove()),
    list: (sessionId) => withDocker('list its objects', (docker) => listObjects(docker, owner, sessionId)),
    putArchive: (container, path, tar) =>
      withDocker('copy into the container', async (docker) => {
        // Owners stay as in the archive; the API's copyUIDGID would give all to the container's user.
        const options = { path, noOverwriteDirNonDir: 'true' };
        await docker.getContainer(container).putArchive(Readable.from(tar), options);
      }),
    hasImage: async (tag) => (await inspectImage(client, tag)) !== undefined,
    imageLabel: async (tag, label) => (await inspectImage(client, tag))?.Config?.Labels?.[label],
    imageFacts: async (reference) => readImageFacts(await inspectImage(client, reference)),
    nameImage: (tag, name) =>
      withDocker('name the image', async (docker) => {
        const [repo = name, version = 'latest'] = name.split(':');
        await docker.getImage(tag).tag({ repo, tag: version });
      }),
    removeImage: (tag) => unlessGone('remove the image', (docker) => docker.getImage(tag).remove({ noprune: false })),
    buildImage: async (context, request) => buildImage(await client.docker(), context, request),
    importImage: async (rootfs, tag) => importImage(await client.docker(), rootfs, tag),
    pullImage: async (...request) => pullImage(await client.docker(), ...request),
    close: () => client.close(),
  };
}

/** Attaches to a fresh container that is as asked; removes any other. */
async function verify(
  client: Client,
  container: Docker.Container,
  spec: ContainerSpec,
  compare: () => Promise<readonly string[]>,
): Promise<Container> {
  try {
    const differences = await compare();
    if (differences.length > 0) {
      throw new RunClaudeError(
        'ENGINE_DROPPED_OPTION',
        `the container engine did not take the ${spec.role} container as asked: ${differences.join('; ')}`,
        { hint: 'Nothing was started; run-claude doctor says what this engine cannot do.' },
      );
    }
    return await attachContainer(client, container, {
      name: spec.name,
      tty: spec.tty,
      stdin: spec.stdin === 'stream',
      running: false,
      proved: isProved(spec),
    });
  } catch (error) {
    await removeContainer(container);
    throw error;
  }
}

async function findContainer(
  client: Client,
  docker: Docker,
  name: string,
  owner: string,
): Promise<Container | undefined> {
  const container = docker.getContainer(name);
  try {
    const { Config, State, Id } = await container.inspect();
    if (Config.Labels[OWNER_LABEL] !== owner) return undefined;
    const options = { name, tty: Config.Tty, stdin: Config.OpenStdin === true, running: State.Running, proved: false };
    return await attachContainer(client, docker.getContainer(Id), options);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

interface ImageRecord {
  readonly Id?: string;
  readonly Config?: {
    readonly Labels?: Readonly<Record<string, string>> | null;
    readonly Env?: readonly string[] | null;
    readonly Volumes?: Readonly<Record<string, unknown>> | null;
    readonly OnBuild?: readonly string[] | null;
  };
}

function readImageFacts(record: ImageRecord | undefined): ImageFacts | undefined {
  if (record?.Id === undefined) return undefined;
  const { Env, Volumes, OnBuild } = record.Config ?? {};
  return {
    id: record.Id,
    variables: (Env ?? []).map((pair) => pair.split('=')[0] ?? ''),
    volumes: Object.keys(Volumes ?? {}),
    onBuild: (OnBuild ?? []).length > 0,
  };
}

/** Asked without dockerode, which is still being loaded when a start asks for its image. */
async function inspectImage(client: Client, tag: string): Promise<ImageRecord | undefined> {
  return asking('look at the image', async () => {
    try {
      return (await client.get(`/images/${encodeURIComponent(tag)}/json`, 30_000)) as ImageRecord;
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  });
}

async function listObjects(
  docker: Docker,
  owner: string,
  sessionId: string | undefined,
): Promise<readonly FoundObject[]> {
  const session = sessionId === undefined ? SESSION_LABEL : `${SESSION_LABEL}=${sessionId}`;
  const filters = { label: [`${OWNER_LABEL}=${owner}`, session] };
  const [containers, volumes, networks] = await Promise.all([
    docker.listContainers({ all: true, filters }),
    docker.listVolumes({ filters }),
    docker.listNetworks({ filters }),
  ]);
  return [
    ...containers.map((found) => ({
      kind: 'container' as const,
      id: found.Id,
      name: found.Names[0]?.replace(/^\//, '') ?? found.Id,
      labels: found.Labels,
      running: ['running', 'paused', 'restarting'].includes(found.State),
      createdMs: found.Created * 1000,
    })),
    ...(volumes.Volumes ?? []).map((found) => ({
      kind: 'volume' as const,
      id: found.Name,
      name: found.Name,
      labels: found.Labels ?? {},
      running: false,
      createdMs: Date.parse((found as { CreatedAt?: string }).CreatedAt ?? '') || 0,
    })),
    ...networks.map((found) => ({
      kind: 'network' as const,
      id: found.Id,
      name: found.Name,
      labels: found.Labels ?? {},
      running: false,
      createdMs: Date.parse(found.Created) || 0,
    })),
    ...(sessionId === undefined ? await listImages(docker) : []),
  ];
}

/**
 * Images belong to nobody in particular: the address is made of what is in them. What others build upon ours inherits
 * our label: their names tell it apart, and a nameless one is ours only while it is no more than a stage.
 */
async function listImages(docker: Docker): Promise<FoundObject[]> {
  const [images, containers] = await Promise.all([
    docker.listImages({ filters: { label: [IMAGE_LABEL] } }),
    docker.listContainers({ all: true }),
  ]);
  const used = new Set(containers.map(({ ImageID }) => ImageID));
  return images.flatMap((found) => {
    const tags = (found.RepoTags ?? []).filter((tag) => tag !== '<none>:<none>');
    // Podman puts a registry before them.
    const ours = tags.map((tag) => tag.replace(/^(docker\.io\/library|localhost)\//, '')).filter(isOurImage);
    const stage = tags.length === 0 && found.Labels[IMAGE_LABEL] === 'stage';
    return (stage ? [found.Id] : ours).map((name) => ({
      kind: 'image' as const,
      id: found.Id,
      name,
      labels: found.Labels ?? {},
      running: used.has(found.Id),
      createdMs: found.Created * 1000,
    }));
  });
}

function isOurImage(tag: string): boolean {
  return /^run-claude(-unproven|-old)?:[0-9a-f]{16}$/.test(tag) || /^run-claude-base:[\w.-]+$/.test(tag);
}
