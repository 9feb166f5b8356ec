/** How to reach an engine. */
export interface EngineAddress {
  /** As in DOCKER_HOST: unix://, tcp:// or ssh://. */
  readonly host: string;
  /** Directory of ca.pem, cert.pem and key.pem, for tcp with TLS. */
  readonly certPath?: string | undefined;
  /** Whether the engine's certificate is checked; default true. */
  readonly tlsVerify?: boolean | undefined;
}

/** An engine of the user's configuration: `[engine.NAME]`. */
export interface NamedEngine extends EngineAddress {
  readonly name: string;
}

/** Docker with its relatives, Podman, jobs of Slurm, pods of Kubernetes. */
export type RuntimeKind = 'docker' | 'podman' | 'slurm' | 'kubernetes';

/** How the pods of Kubernetes are made. `pod`: of the RuntimeClass of deploy/kubernetes. `pods`: on any cluster. */
export type PodForm = 'pod' | 'pods';

/** Facts about an engine, asked once per run. */
export interface EngineFacts {
  /** Its name in the user's configuration. Undefined: the engine that the docker command would use. */
  readonly on?: string | undefined;
  /** Docker's own id, which several daemons of one machine may share. Earlier releases did not record it. */
  readonly id?: string | undefined;
  readonly kind: RuntimeKind;
  /** Of Kubernetes. */
  readonly form?: PodForm | undefined;
  /** 'Docker 20.10.24', 'OrbStack 1.9 (Docker 27.1)', … for people. */
  readonly name: string;
  readonly version: string;
  readonly apiVersion: string;
  /** Where we talk to it, for people: 'unix:///var/run/docker.sock', 'ssh://host'. */
  readonly endpoint: string;
  readonly os: string;
  readonly arch: string;
  readonly kernel: string;
  /** It runs on this machine's own kernel and sees this machine's paths. */
  readonly local: boolean;
  readonly rootless: boolean;
  readonly usernsRemap: boolean;
  /** No user but uid 0 exists inside. Undefined: others do. */
  readonly hasOneUser?: true | undefined;
  /** Each container mounts a volume anew, so an overlay must be in one container only. Undefined: they share one mount. */
  readonly mountsAnew?: true | undefined;
  readonly cgroupVersion: 1 | 2;
  readonly seccomp: boolean;
  readonly memoryLimit: boolean;
  readonly swapLimit: boolean;
  readonly pidsLimit: boolean;
  readonly cpuLimit: boolean;
  readonly runtimes: readonly string[];
  /** It can give graphics processors to a container. Earlier releases did not record it. */
  readonly gpus?: boolean | undefined;
  /** Of its machine. Earlier releases did not record these two. */
  readonly processors?: number | undefined;
  readonly memoryMb?: number | undefined;
  readonly dataRoot: string;
}

export type Mount =
  | { readonly kind: 'bind'; readonly source: string; readonly target: string; readonly readonly: boolean }
  | {
      readonly kind: 'volume';
      readonly volume: string;
      readonly target: string;
      readonly readonly: boolean;
      /** A fresh volume takes over what the image has at the target, owners included. */
      readonly fill?: true;
    }
  | {
      readonly kind: 'tmpfs';
      readonly target: string;
      readonly sizeMb: number;
      /** Octal mode, e.g. 0o1777. */
      readonly mode: number;
      readonly noexec: boolean;
      readonly uid?: number;
      readonly gid?: number;
    };

export interface Limits {
  readonly memoryMb: number;
  /** 0: all. */
  readonly cpus: number;
  readonly pids: number;
  readonly nofile: number;
  readonly shmMb: number;
}

/**
 * One container, fully specified: the engine room adds nothing but what every run-claude container has
 * (no-new-privileges, read-only root, log driver none, private namespaces, labels). Compared with the engine's own
 * record after create.
 */
export interface ContainerSpec {
  readonly name: string;
  readonly role: 'agent' | 'gateway' | 'companion' | 'collector' | 'task';
  readonly sessionId: string;
  readonly image: string;
  /** argv of PID 1; replaces entrypoint and command. */
  readonly argv: readonly string[];
  /** 'uid:gid'. */
  readonly user: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly mounts: readonly Mount[];
  readonly network: 'none' | { readonly bridge: string };
  /** Capabilities kept, e.g. ['DAC_READ_SEARCH'] for the collector; empty for all others. */
  readonly capabilities: readonly string[];
  /** Seccomp profile as JSON text; undefined: the engine's default (task containers only). */
  readonly seccomp: string | undefined;
  readonly limits: Limits;
  readonly tty: boolean;
  /** none: no stdin. stream: attached. A container attached with stdin ends when its CLI does (StdinOnce). */
  readonly stdin: 'none' | 'stream';
  readonly hostname: string;
  /** Host names of 127.0.0.1, besides localhost. */
  readonly loopbackNames?: readonly string[];
  /** All graphics processors of the engine's machine. */
  readonly gpus?: true;
  readonly runtime?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface VolumeSpec {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Options of the local driver, e.g. { type: 'overlay', device: 'overlay', o: 'lowerdir=…' }. */
  readonly options?: Readonly<Record<string, string>>;
}

export interface FoundVolume {
  /** A path of the engine's own machine. */
  readonly mountpoint: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** A container that was created, verified and attached; started by start(). */
export interface Container {
  readonly id: string;
  readonly name: string;
  /** With a tty everything is on stdout. Readable before start(). */
  readonly stdout: NodeJS.ReadableStream;
  readonly stderr: NodeJS.ReadableStream;
  /** Undefined when the spec's stdin is 'none'. end() closes the container's stdin. */
  readonly stdin: NodeJS.WritableStream | undefined;
  start(): Promise<void>;
  /** Resolves with the exit status once it has ended. */
  wait(): Promise<number>;
  /** Resolves without error when it has ended already. */
  kill(signal: string): Promise<void>;
  /** Its first process, as this machine numbers it. Undefined where it is not known (yet). */
  hostPid?(): number | undefined;
  /** Undefined, as the next three, where the runtime has no such request. */
  pause?(): Promise<void>;
  unpause?(): Promise<void>;
  resize?(columns: number, rows: number): Promise<void>;
  /** argv in the running container, own stdin/stdout; resolves with status and output (capped at 16 MiB). */
  exec?(argv: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  /** Closes its streams; the container runs on. */
  detach(): void;
  /** Kills it if needed. No error when it does not exist any more. */
  remove(): Promise<void>;
}

/** A program that was started in a running container, next to the container's own. */
export interface InsideProgram {
  /** With a tty everything is on stdout. Readable before start(). */
  readonly stdout: NodeJS.ReadableStream;
  readonly stderr: NodeJS.ReadableStream;
  readonly stdin: NodeJS.WritableStream | undefined;
  /** Resolves once the program may run: its container's layers hold for it. */
  start(): Promise<void>;
  /** Resolves with the exit status once it has ended. */
  wait(): Promise<number>;
  /** Resolves without error when it has ended already. */
  kill(signal: string): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /** Closes its streams. The program runs on. */
  close(): void;
}

export interface InsideProgramSpec {
  /** As it was created: what holds for it must hold for the program too. */
  readonly container: ContainerSpec;
  readonly argv: readonly string[];
  readonly tty: boolean;
  /** Added to the environment of the container. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ExecOptions {
  readonly user?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array;
}

export interface ExecResult {
  readonly status: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

export interface FoundObject {
  readonly kind: 'container' | 'volume' | 'network' | 'image';
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Of a container: it runs. Of an image: a container uses it. */
  readonly running: boolean;
  readonly createdMs: number;
}

/** The bytes of a tar, as tar-stream, tar-fs and Node's streams give them. */
export type Archive = AsyncIterable<unknown>;

export interface ImageBuild {
  readonly tag: string;
  /** Build arguments (`ARG`). */
  readonly args: Readonly<Record<string, string>>;
  /** Added to those of the Dockerfile. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Whether its steps can reach the network. Default true. */
  readonly connected?: boolean;
  /** Ignore the engine's build cache. */
  readonly fresh: boolean;
  /** Every piece of output, uncleaned. */
  readonly onOutput: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** What an image brings along besides its files. */
export interface ImageFacts {
  readonly id: string;
  /** Names of the variables that it sets. */
  readonly variables: readonly string[];
  /** Directories that would become volumes of their own. */
  readonly volumes: readonly string[];
  /** Whether it has instructions for images built on it. */
  readonly onBuild: boolean;
}
