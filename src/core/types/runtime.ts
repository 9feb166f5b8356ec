import type {
  Archive,
  Container,
  ContainerSpec,
  EngineFacts,
  FoundObject,
  FoundVolume,
  ImageBuild,
  ImageFacts,
  InsideProgram,
  InsideProgramSpec,
  VolumeSpec,
} from './engine.ts';
import type { PodDoor } from './gateway.ts';

/**
 * What the containers of a session run on: an engine, jobs of a scheduler, pods of a cluster. Every failure is a
 * RunClaudeError with a hint. The table of capabilities in engines/capabilities says what each kind supports.
 */
export interface Runtime {
  readonly facts: EngineFacts;
  /** The agent's container reaches its gateway over TCP. Undefined: by sockets in a directory that both mount. */
  readonly gatewayDoor?: PodDoor | undefined;
  /** Layers that its containers lack, as the user accepted. Undefined: none. */
  readonly lacks?: readonly LackedLayer[] | undefined;
  /**
   * Creates a container with everything that the spec has, and attaches.
   *
   * @throws {RunClaudeError} ENGINE_DROPPED_OPTION, which names each option that an engine did not take; USAGE for a
   * container that the runtime does not support
   */
  create(spec: ContainerSpec): Promise<Container>;
  /** Unpacks a tar stream into a created (not started) container, owners and modes as in the archive. */
  putArchive(container: string, path: string, tar: Archive): Promise<void>;
  createVolume(spec: VolumeSpec): Promise<void>;
  /** Where the runtime keeps a volume, and its labels; undefined when there is none of that name. */
  findVolume(name: string): Promise<FoundVolume | undefined>;
  /** No error when it does not exist any more. */
  removeVolume(name: string): Promise<void>;
  /**
   * This owner's objects of one session, or of all of them; with undefined also run-claude's images, whoever built
   * them.
   */
  list(sessionId?: string): Promise<readonly FoundObject[]>;
  close(): Promise<void>;
  /** Undefined: containers run an image that was made elsewhere. */
  readonly images?: RuntimeImages | undefined;
  /** Undefined: a container with a network is on the network of its machine. */
  readonly networks?: RuntimeNetworks | undefined;
  /** Undefined: no container outlives the command that made it, and nothing more is started in one. */
  readonly running?: RunningContainers | undefined;
}

/** The images of a runtime. */
export interface RuntimeImages {
  has(tag: string): Promise<boolean>;
  /** Gives an image one more name. */
  name(tag: string, name: string): Promise<void>;
  /** By name or id. With its last name the image is removed, and the layers that only it used. */
  remove(tag: string): Promise<void>;
  /** Builds a tar of a build context with the classic builder. Throws IMAGE_BUILD_FAILED, DISK_FULL. */
  build(context: Archive, request: ImageBuild): Promise<void>;
  /** Makes an image of one layer from the tar of a root file system. */
  import(rootfs: Archive, tag: string): Promise<void>;
  /**
   * Fetches an image from its registry; throws IMAGE_PULL_FAILED when that takes longer than timeoutMs or is aborted.
   * `onOutput` gets every piece of output, uncleaned.
   */
  pull(
    reference: string,
    timeoutMs: number,
    signal: AbortSignal,
    settings?: { readonly onOutput?: (text: string) => void },
  ): Promise<void>;
  /** The label of that name on an image; undefined without label or image. */
  label(tag: string, label: string): Promise<string | undefined>;
  /** What an image brings along; undefined when the runtime does not have it. */
  facts(reference: string): Promise<ImageFacts | undefined>;
}

/** Networks that run-claude makes for containers. */
export interface RuntimeNetworks {
  create(name: string, labels: Readonly<Record<string, string>>): Promise<void>;
  /** 'unawaited': on this machine the engine is asked to and finishes by itself (it takes 0.2 s). */
  remove(name: string, how?: 'unawaited'): Promise<void>;
}

/** Containers that run, whichever command made them. */
export interface RunningContainers {
  /** An existing run-claude container, attached again; undefined when there is none. */
  find(name: string): Promise<Container | undefined>;
  /**
   * Starts a program in a running container of this owner, with the container's user, environment and limits, and without
   * privileges of its own. Throws ENGINE_LAYER_MISSING from start() where a layer does not hold for it.
   */
  startInside(spec: InsideProgramSpec): Promise<InsideProgram>;
}

/** A runtime that makes images, or uses those of the user's engine. */
export type ImageRuntime = Runtime & { readonly images: RuntimeImages };

/** A runtime with every part: Docker, OrbStack, Podman. */
export interface Engine extends Runtime {
  readonly images: RuntimeImages;
  readonly networks: RuntimeNetworks;
  readonly running: RunningContainers;
  create(spec: ContainerSpec): Promise<EngineContainer>;
}

/** A container of an engine: its programs can be paused, and others be run in it. */
export type EngineContainer = Required<Container>;

/** A layer of the table of capabilities that a container lacks. */
export interface LackedLayer {
  readonly name: string;
  /** How the names of the probes begin that get through without it. */
  readonly probes: readonly string[];
}
