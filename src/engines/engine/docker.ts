import { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { RunClaudeError } from '../../core/errors.ts';
import type { ContainerSpec, EngineFacts, ImageFacts } from '../../core/types/engine.ts';
import type { Engine, EngineContainer, RuntimeImages, RuntimeNetworks } from '../../core/types/runtime.ts';
import { comparedRecord, foundContainer, type ImageRecord, imageRecord, readAnswer, volumeRecord } from './answers.ts';
import { containerBody, nameApart, OWNER_LABEL } from './body.ts';
import { buildImage, importImage, pullImage } from './build.ts';
import type { Client } from './connection/client.ts';
import { attachContainer, removeContainer } from './containers/container.ts';
import { startInside } from './containers/inside.ts';
import { callEngine, isNotFound } from './failure.ts';
import { isProved, withProof } from './hardening/proof.ts';
import { listObjects } from './list-objects.ts';
import { createOnPodman, findOverlays, inspectOnPodman, nameLoopback } from './podman/podman.ts';
import type { Overlays } from './podman/podman-body.ts';

/** Differences between the request and the engine's record, one line each. */
export type CompareRecord = (spec: ContainerSpec, record: unknown, overlays: Overlays) => readonly string[];

export interface EngineOptions {
  readonly facts: EngineFacts;
  /** The label `run-claude.owner` of every object made here. list() returns no other. */
  readonly owner: string;
  readonly compare: CompareRecord;
}

/** Sends requests by dockerode; an error names what was attempted. */
interface Requests {
  send<T>(doing: string, request: (docker: Docker) => Promise<T>): Promise<T>;
  /** Undefined when the engine does not have the object. */
  find<T>(doing: string, request: (docker: Docker) => Promise<T>): Promise<T | undefined>;
  /** No error when the object does not exist. */
  remove(doing: string, request: (docker: Docker) => Promise<unknown>): Promise<void>;
}

function requestsBy(client: Client): Requests {
  const send: Requests['send'] = async (doing, request) => {
    const docker = await client.docker();
    return callEngine(doing, () => request(docker));
  };
  const find: Requests['find'] = (doing, request) =>
    send(doing, async (docker) => {
      try {
        return await request(docker);
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    });
  return { send, find, remove: async (doing, request) => void (await find(doing, request)) };
}

/** The engine behind a connection that has answered. */
export function openEngine(client: Client, options: EngineOptions): Engine {
  const { facts, owner } = options;
  const requests = requestsBy(client);
  return {
    facts,
    ...containersOf(client, requests, options),
    ...volumesOf(requests, owner),
    networks: networksOf(client, requests, options),
    images: imagesOf(client, requests),
    list: (sessionId) => requests.send('list its objects', (docker) => listObjects(docker, owner, sessionId)),
    close: () => client.close(),
  };
}

function containersOf(
  client: Client,
  { send }: Requests,
  { facts, owner, compare }: EngineOptions,
): Pick<Engine, 'create' | 'running' | 'putArchive'> {
  return {
    create: (spec) =>
      send('create the container', async (docker) => {
        const proved = withProof(spec);
        if (facts.kind === 'podman') {
          const overlays = await findOverlays(docker, spec);
          const made = await createOnPodman(docker, proved, { owner, overlays, cgroupVersion: facts.cgroupVersion });
          return verify(client, made, proved, facts, async () => {
            await nameLoopback(made, proved);
            return compare(proved, recordOf(await inspectOnPodman(docker, made.id)), overlays);
          });
        }
        const image = readImageFacts(await inspectImage(client, spec.image));
        const made = await docker.createContainer(nameApart(containerBody(proved, owner, image?.variables)));
        return verify(client, made, proved, facts, async () =>
          compare(proved, recordOf(await made.inspect()), new Map()),
        );
      }),
    running: {
      find: (name) => send('find the container', (docker) => findContainer(client, docker, name, owner)),
      startInside: (spec) => startInside(client, owner, spec),
    },
    putArchive: (container, path, tar) =>
      send('copy into the container', async (docker) => {
        // Owners stay as in the archive. The API's copyUIDGID would give all entries to the container's user.
        const archiveOptions = { path, noOverwriteDirNonDir: 'true' };
        await docker.getContainer(container).putArchive(Readable.from(tar), archiveOptions);
      }),
  };
}

function volumesOf(
  { send, find, remove }: Requests,
  owner: string,
): Pick<Engine, 'createVolume' | 'findVolume' | 'removeVolume'> {
  return {
    createVolume: ({ name, labels, options }) =>
      send('create the volume', async (docker) => {
        const Labels = { ...labels, [OWNER_LABEL]: owner };
        await docker.createVolume({ Name: name, Driver: 'local', Labels, DriverOpts: { ...options } });
      }),
    findVolume: (name) =>
      find('find the volume', async (docker) => {
        const found = readAnswer(await docker.getVolume(name).inspect(), volumeRecord, 'the volume');
        return { mountpoint: found.Mountpoint ?? '', labels: found.Labels ?? {} };
      }),
    removeVolume: (name) => remove('remove the volume', (docker) => docker.getVolume(name).remove()),
  };
}

function networksOf(client: Client, { send, remove }: Requests, { facts, owner }: EngineOptions): RuntimeNetworks {
  return {
    create: (name, labels) =>
      send('create the network', async (docker) => {
        const Labels = { ...labels, [OWNER_LABEL]: owner };
        await docker.createNetwork({ Name: name, Driver: 'bridge', CheckDuplicate: true, Labels });
      }),
    remove: (name, how) =>
      how === 'unawaited' && facts.local
        ? client.send('DELETE', `/networks/${encodeURIComponent(name)}`)
        : remove('remove the network', (docker) => docker.getNetwork(name).remove()),
  };
}

function imagesOf(client: Client, { send, remove }: Requests): RuntimeImages {
  return {
    has: async (tag) => (await inspectImage(client, tag)) !== undefined,
    label: async (tag, label) => (await inspectImage(client, tag))?.Config?.Labels?.[label],
    facts: async (reference) => readImageFacts(await inspectImage(client, reference)),
    name: (tag, name) =>
      send('name the image', async (docker) => {
        const [repo = name, version = 'latest'] = name.split(':');
        await docker.getImage(tag).tag({ repo, tag: version });
      }),
    remove: (tag) => remove('remove the image', (docker) => docker.getImage(tag).remove({ noprune: false })),
    build: async (context, request) => buildImage(await client.docker(), context, request),
    import: async (rootfs, tag) => importImage(await client.docker(), rootfs, tag),
    pull: async (...request) => pullImage(await client.docker(), ...request),
  };
}

/** The record of a new container. @throws {RunClaudeError} ENGINE_ANSWER */
const recordOf = (answer: unknown): unknown => readAnswer(answer, comparedRecord, 'the record of the container');

/** Attaches to a new container whose record is as requested; removes any other. */
async function verify(
  client: Client,
  container: Docker.Container,
  spec: ContainerSpec,
  { local }: Pick<EngineFacts, 'local'>,
  compare: () => Promise<readonly string[]>,
): Promise<EngineContainer> {
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
      isHere: local && spec.role === 'agent',
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
): Promise<EngineContainer | undefined> {
  const container = docker.getContainer(name);
  try {
    const { Config, State, Id } = readAnswer(await container.inspect(), foundContainer, 'the container');
    if (Config.Labels?.[OWNER_LABEL] !== owner) return undefined;
    const { Tty: tty, OpenStdin: stdin } = Config;
    const options = { name, tty: tty === true, stdin: stdin === true, running: State.Running === true, proved: false };
    return await attachContainer(client, docker.getContainer(Id), options);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function readImageFacts(record: ImageRecord | undefined): ImageFacts | undefined {
  if (typeof record?.Id !== 'string') return undefined;
  const { Env, Volumes, OnBuild } = record.Config ?? {};
  return {
    id: record.Id,
    variables: (Env ?? []).map((pair) => pair.split('=')[0] ?? ''),
    volumes: Object.keys(Volumes ?? {}),
    onBuild: (OnBuild ?? []).length > 0,
  };
}

/** Without dockerode, which is still being loaded when a start needs the image. */
async function inspectImage(client: Client, tag: string): Promise<ImageRecord | undefined> {
  return callEngine('look at the image', async () => {
    try {
      const found = await client.get(`/images/${encodeURIComponent(tag)}/json`, 30_000);
      return readAnswer(found, imageRecord, 'the image');
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  });
}
