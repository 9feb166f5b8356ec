import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import type { SessionPod } from '../../../src/engines/cluster/pod.ts';
import type { Pod, PodContainer } from '../../../src/engines/render/pod.ts';
import type { Containerd } from './containerd.ts';
import { containerConfig, sandboxConfig } from './run-pod.ts';

interface Status {
  readonly status: { readonly state: string; readonly exit_code: number };
}

const POLL_MS = 100;

/** The part of a kubelet that a session's pod needs, over a real containerd: claims are directories of the test's. */
export class Node {
  readonly name = 'node-1';
  readonly #containerd: Containerd;
  readonly #seccomp: string;
  readonly #images: ReadonlyMap<string, string>;

  /** `images`: names in containerd by the references of pods. */
  constructor(containerd: Containerd, seccomp: string, images: ReadonlyMap<string, string>) {
    this.#containerd = containerd;
    this.#seccomp = seccomp;
    this.#images = images;
  }

  /** The process whose network namespace joins the pods. */
  get networkPid(): number {
    return this.#containerd.pid;
  }

  /** What containers print is in files below it, as a kubelet keeps it. */
  get logs(): string {
    return path.join(this.#containerd.dir, 'logs');
  }

  /** The directory of a claim. */
  claim(name: string): string {
    return path.join(this.#containerd.dir, 'volumes', name);
  }

  /** Starts the pod as a kubelet does, and reports each step as the pod's status. Ends when the pod has. */
  async run(pod: SessionPod, report: (status: object) => void): Promise<RunningNodePod> {
    const dir = path.join(this.logs, pod.metadata.name);
    mkdirSync(dir);
    const profile = path.join(dir, 'seccomp.json');
    writeFileSync(profile, this.#seccomp);
    const call = this.#containerd.call.bind(this.#containerd);
    const config = sandboxConfig(pod as unknown as Pod, dir, this.#containerd.cgroup);
    const handler = pod.spec.runtimeClassName ?? 'plain';
    const sandbox = await call<{ pod_sandbox_id: string }>('RunPodSandbox', { config, runtime_handler: handler });
    const { status } = await call<{ readonly status: { readonly network: { readonly ip: string } } }>(
      'PodSandboxStatus',
      sandbox,
    );
    const podIP = status.network.ip;
    report({ phase: 'Pending', podIP });
    const make = async (container: (typeof pod.spec.containers)[number]): Promise<string> => {
      const directoryOf = (mount: PodContainer['volumeMounts'][number] & { readonly subPath?: string }): string => {
        const claim = pod.spec.volumes.find(({ name }) => name === mount.name)?.persistentVolumeClaim?.claimName;
        const ofPod = path.join(dir, mount.name);
        const directory = claim === undefined ? ofPod : path.join(this.claim(claim), mount.subPath ?? '');
        mkdirSync(directory, { recursive: true, mode: 0o750 });
        // As an emptyDir.
        if (claim === undefined) chmodSync(directory, 0o777);
        return directory;
      };
      const image = this.#images.get(container.image);
      if (image === undefined) throw new PullError(`failed to pull ${container.image}: not found`);
      const request = containerConfig(pod, { ...container, image } as PodContainer, { dir, profile, directoryOf });
      const made = await call<{ container_id: string }>('CreateContainer', {
        ...sandbox,
        config: request,
        sandbox_config: config,
      });
      await call('StartContainer', made);
      return made.container_id;
    };
    const ended = async (id: string): Promise<number> => {
      for (;;) {
        const { status } = await call<Status>('ContainerStatus', { container_id: id });
        if (status.state === 'EXITED') return status.exit_code;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    };
    const remove = async (): Promise<void> => {
      await call('StopPodSandbox', sandbox).catch(() => undefined);
      await call('RemovePodSandbox', sandbox).catch(() => undefined);
    };
    try {
      for (const first of pod.spec.initContainers) {
        const exitCode = await ended(await make(first));
        if (exitCode !== 0) {
          report({ phase: 'Failed', podIP, initContainerStatuses: [{ state: { terminated: { exitCode } } }] });
          return { remove, attach: () => undefined };
        }
      }
      const [main] = pod.spec.containers;
      if (main === undefined) throw new Error('no container');
      const id = await make(main);
      const imageID = main.image;
      report({ phase: 'Running', podIP, containerStatuses: [{ name: main.name, imageID, state: { running: {} } }] });
      void ended(id).then(
        (exitCode) =>
          report({
            phase: exitCode === 0 ? 'Succeeded' : 'Failed',
            podIP,
            containerStatuses: [{ name: main.name, imageID, state: { terminated: { exitCode } } }],
          }),
        () => undefined,
      );
      return { remove, attach: (client) => this.#attach(id, client) };
    } catch (error) {
      const isPull = error instanceof PullError;
      const reason = isPull ? 'ImagePullBackOff' : 'CreateContainerError';
      report({
        phase: 'Pending',
        containerStatuses: [{ state: { waiting: { reason, message: (error as Error).message } } }],
      });
      return { remove, attach: () => undefined };
    }
  }

  /** Joins a client's channels to those of containerd, which speaks the same protocol. */
  #attach(id: string, client: WebSocket): void {
    const early: Buffer[] = [];
    const hold = (data: Buffer): void => void early.push(data);
    client.on('message', hold);
    void this.#containerd
      .call<{ url: string }>('Attach', { container_id: id, stdin: true, stdout: true, stderr: true, tty: false })
      .then(({ url }) => {
        const { port } = new URL(url);
        const socket = new WebSocket(url.replace(/^http/, 'ws'), ['v4.channel.k8s.io'], {
          createConnection: () => connectInside(this.#containerd.pid, Number(port)),
        } as object);
        socket.on('open', () => {
          client.off('message', hold);
          for (const data of early) socket.send(data);
          client.on('message', (data: Buffer) => socket.send(data));
        });
        socket.on('message', (data: Buffer) => client.send(data));
        socket.on('error', () => client.terminate());
        socket.on('close', () => client.close());
        client.on('close', () => socket.terminate());
      })
      .catch(() => client.terminate());
  }
}

export interface RunningNodePod {
  remove(): Promise<void>;
  attach(client: WebSocket): void;
}

class PullError extends Error {}

const BRIDGE = `const to = require('node:net').connect(Number(process.argv[1]), '127.0.0.1');
  process.stdin.pipe(to); to.pipe(process.stdout); to.on('error', () => process.exit(1)); to.on('close', () => process.exit(0));`;

/** A connection to a port of the loopback of another network namespace. */
function connectInside(pid: number, port: number): Duplex {
  const words = [`--net=/proc/${pid}/ns/net`, process.execPath, '-e', BRIDGE, String(port)];
  const child = spawn('nsenter', words, { stdio: ['pipe', 'pipe', 'inherit'] });
  const duplex = Duplex.from({ writable: child.stdin, readable: child.stdout });
  duplex.on('close', () => child.kill('SIGKILL'));
  const noop = (): Duplex => duplex;
  return Object.assign(duplex, { setTimeout: noop, setNoDelay: noop, setKeepAlive: noop });
}
