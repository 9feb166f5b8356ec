import { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { RunClaudeError } from '../errors.ts';
import type { Container, ContainerSpec, Engine, EngineFacts, ImageFacts } from '../types/engine.ts';
import { containerBody, OWNER_LABEL } from './body.ts';
import { buildImage, importImage, pullImage } from './build.ts';
import type { Client } from './connection/client.ts';
import { attachContainer, removeContainer } from './container.ts';
import { callEngine, isNotFound } from './failure.ts';
import { isProved, withProof } from './hardening/proof.ts';
import { listObjects } from './list-objects.ts';
import { createOnPodman, findOverlays, inspectOnPodman } from './podman.ts';
import type { Overlays } from './podman-body.ts';

/** Differences between the request and the engine's record, one line each. */
export type CompareRecord = (spec: ContainerSpec, record: unknown, overlays: Overlays) => readonly string[];

export interface EngineOptions {
  readonly facts: EngineFacts;
  /** The label `run-claude.owner` of every object made here. list() returns no other. */
  readonly owner: string;
  readonly compare: CompareRecord;
}

/** An error names what was attempted. */
interface Requests {
  send<T>(doing: string, request: (client: Client) => Promise<T>): Promise<T>;
  /** Undefined when the engine does not have the object. */
  find<T>(doing: string, request: (client: Client) => Promise<T>): Promise<T | undefined>;
  /** No error when the object does not exist. */
  remove(doing: string, path: string): Promise<void>;
}

function requestsBy(client: Client): Requests {
  const send: Requests['send'] = (doing, request) => callEngine(doing, () => request(client));
  const find: Requests['find'] = (doing, request) =>
    send(doing, async () => {
      try {
        return await request(client);
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    });
  return { send, find, remove: async (doing, path) => void (await find(doing, () => client.request('DELETE', path))) };
}

/** The engine behind a connection that has answered. */
export function openEngine(client: Client, options: EngineOptions): Engine {
  const { facts, owner } = options;
  const requests = requestsBy(client);
  const images = imageRecords(client);
  return {
    facts,
    ...containersOf(client, requests, images, options),
    ...volumesOf(requests, owner),
    ...networksOf(client, requests, options),
    ...imagesOf(client, requests, images),
    list: (sessionId) =>
      requests.send('list its objects', async () => listObjects(await client.docker(), owner, sessionId)),
    close: () => client.close(),
  };
}

function containersOf(
  client: Client,
  { send }: Requests,
  images: ImageRecords,
  { facts, owner, compare }: EngineOptions,
): Pick<Engine, 'create' | 'find' | 'putArchive'> {
  return {
    create: (spec) =>
      send('create the container', async () => {
        const proved = withProof(spec);
        if (facts.kind === 'podman') {
          const overlays = await findOverlays(client, spec);
          const made = await createOnPodman(client, proved, { owner, overlays, cgroupVersion: facts.cgroupVersion });
          return verify(client, made, proved, async () =>
            compare(proved, await inspectOnPodman(client, made), overlays),
          );
        }
        const image = readImageFacts(await images.known(spec.image));
        const body = containerBody(proved, owner, image?.variables);
        const answer = await client.request('POST', `/containers/create?name=${encodeURIComponent(spec.name)}`, body);
        const { Id } = answer as { readonly Id: string };
        const record = () => client.request('GET', `/containers/${Id}/json`);
        return verify(client, Id, proved, async () => compare(proved, await record(), new Map()));
      }),
    find: (name) => send('find the container', () => findContainer(client, name, owner)),
    putArchive: (container, path, tar) =>
      send('copy into the container', async () => {
        // Owners stay as in the archive. The API's copyUIDGID would give all entries to the container's user.
        const archiveOptions = { path, noOverwriteDirNonDir: 'true' };
        const docker = await client.docker();
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
      send('create the volume', async (client) => {
        const Labels = { ...labels, [OWNER_LABEL]: owner };
        await client.request('POST', '/volumes/create', {
          Name: name,
          Driver: 'local',
          Labels,
          DriverOpts: { ...options },
        });
      }),
    findVolume: (name) =>
      find('find the volume', async (client) => {
        const { Mountpoint, Labels } = (await client.request('GET', volumePath(name))) as VolumeRecord;
        return { mountpoint: Mountpoint, labels: Labels ?? {} };
      }),
    removeVolume: (name) => remove('remove the volume', volumePath(name)),
  };
}

function networksOf(
  client: Client,
  { send, remove }: Requests,
  { facts, owner }: EngineOptions,
): Pick<Engine, 'createNetwork' | 'removeNetwork'> {
  return {
    createNetwork: (name, labels) =>
      send('create the network', async () => {
        const Labels = { ...labels, [OWNER_LABEL]: owner };
        await client.request('POST', '/networks/create', {
          Name: name,
          Driver: 'bridge',
          CheckDuplicate: true,
          Labels,
        });
      }),
    removeNetwork: (name, how) =>
      how === 'unawaited' && facts.local
        ? client.send('DELETE', networkPath(name))
        : remove('remove the network', networkPath(name)),
  };
}

type ImageMethods = 'hasImage' | 'imageLabel' | 'imageFacts' | 'nameImage' | 'removeImage';

function imagesOf(
  client: Client,
  { send, remove }: Requests,
  images: ImageRecords,
): Pick<Engine, ImageMethods | 'buildImage' | 'importImage' | 'pullImage'> {
  return {
    hasImage: async (tag) => (await images.inspect(tag)) !== undefined,
    imageLabel: async (tag, label) => (await images.inspect(tag))?.Config?.Labels?.[label],
    imageFacts: async (reference) => readImageFacts(await images.inspect(reference)),
    nameImage: (tag, name) =>
      send('name the image', async () => {
        const [repo = name, version = 'latest'] = name.split(':');
        const query = new URLSearchParams({ repo, tag: version });
        await client.request('POST', `${imagePath(tag)}/tag?${query}`);
      }),
    removeImage: (tag) => remove('remove the image', `${imagePath(tag)}?noprune=false`),
    async buildImage(context, request) {
      images.forget();
      await buildImage(await client.docker(), context, request);
    },
    importImage: async (rootfs, tag) => importImage(await client.docker(), rootfs, tag),
    pullImage: async (...request) => pullImage(await client.docker(), ...request),
  };
}

/** Attaches to a new container whose record is as requested; removes any other. */
async function verify(
  client: Client,
  id: string,
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
    return await attachContainer(client, id, {
      name: spec.name,
      tty: spec.tty,
      stdin: spec.stdin === 'stream',
      running: false,
      proved: isProved(spec),
    });
  } catch (error) {
    await removeContainer(client, id);
    throw error;
  }
}

async function findContainer(client: Client, name: string, owner: string): Promise<Container | undefined> {
  try {
    const record = await client.request('GET', `/containers/${encodeURIComponent(name)}/json`);
    const { Config, State, Id } = record as Docker.ContainerInspectInfo;
    if (Config.Labels[OWNER_LABEL] !== owner) return undefined;
    const options = { name, tty: Config.Tty, stdin: Config.OpenStdin === true, running: State.Running, proved: false };
    return await attachContainer(client, Id, options);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

interface VolumeRecord {
  readonly Mountpoint: string;
  readonly Labels: Readonly<Record<string, string>> | null;
}

const volumePath = (name: string): string => `/volumes/${encodeURIComponent(name)}`;
const networkPath = (name: string): string => `/networks/${encodeURIComponent(name)}`;
const imagePath = (tag: string): string => `/images/${encodeURIComponent(tag)}`;

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

/** What the engine has recorded of its images. */
interface ImageRecords {
  /** Asks the engine. Undefined when it does not have the image. */
  inspect(tag: string): Promise<ImageRecord | undefined>;
  /** What inspect() returned last for the tag: a start asks whether it has the image, and makes containers of it. */
  known(tag: string): Promise<ImageRecord | undefined>;
  /** To be called before a tag may get another image. */
  forget(): void;
}

function imageRecords(client: Client): ImageRecords {
  const last = new Map<string, ImageRecord>();
  const inspect: ImageRecords['inspect'] = (tag) =>
    callEngine('look at the image', async () => {
      last.delete(tag);
      try {
        const record = (await client.get(`${imagePath(tag)}/json`, 30_000)) as ImageRecord;
        last.set(tag, record);
        return record;
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    });
  return { inspect, known: async (tag) => last.get(tag) ?? inspect(tag), forget: () => last.clear() };
}
