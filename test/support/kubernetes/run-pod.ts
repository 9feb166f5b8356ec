import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pod, PodContainer } from '../../../src/engines/render/pod.ts';
import type { Containerd } from './containerd.ts';

/** What the kubelet asks for where a pod has no procMount. */
const MASKED = ['acpi', 'asound', 'kcore', 'keys', 'latency_stats', 'timer_list', 'timer_stats', 'sched_debug', 'scsi'];
const READ_ONLY = ['bus', 'fs', 'irq', 'sys', 'sysrq-trigger'].map((name) => `/proc/${name}`);
/** What it adds to every container: the API server. */
export const API_SERVER = '10.96.0.1';
const ADDED_ENV = { KUBERNETES_SERVICE_HOST: API_SERVER, KUBERNETES_SERVICE_PORT: '443' };

const CPU_PERIOD = 100_000;
const WAIT_MS = 120_000;

interface Status {
  readonly status: { readonly state: string; readonly exit_code: number };
}

export interface RunPodOptions {
  /** Name of a runtime in containerd's configuration. */
  readonly handler: string;
  /** Text of the seccomp profile: a file of the node. */
  readonly seccomp: string;
}

/** A pod of a containerd, started as the kubelet starts it. Only what the rendered pods have is understood. */
export class RunningPod {
  readonly #containerd: Containerd;
  readonly #sandbox: string;
  readonly #dir: string;
  readonly #containers: ReadonlyMap<string, string>;

  private constructor(containerd: Containerd, sandbox: string, dir: string, containers: ReadonlyMap<string, string>) {
    this.#containerd = containerd;
    this.#sandbox = sandbox;
    this.#dir = dir;
    this.#containers = containers;
  }

  /** Starts the containers in their order. Rejects with the runtime's error. */
  static async start(containerd: Containerd, pod: Pod, { handler, seccomp }: RunPodOptions): Promise<RunningPod> {
    const dir = path.join(containerd.dir, 'logs', `${pod.metadata.name}-${handler}-${process.hrtime.bigint()}`);
    mkdirSync(dir);
    const profile = path.join(dir, 'seccomp.json');
    writeFileSync(profile, seccomp);
    const config = sandboxConfig(pod, dir, containerd.cgroup);
    const sandbox = await containerd.call<{ pod_sandbox_id: string }>('RunPodSandbox', {
      config,
      runtime_handler: handler,
    });
    const containers = new Map<string, string>();
    for (const container of pod.spec.containers) {
      const made = await containerd.call<{ container_id: string }>('CreateContainer', {
        ...sandbox,
        config: containerConfig(pod, container, { dir, profile }),
        sandbox_config: config,
      });
      containers.set(container.name, made.container_id);
      await containerd.call('StartContainer', made);
    }
    return new RunningPod(containerd, sandbox.pod_sandbox_id, dir, containers);
  }

  /** Waits for the container's end. Returns its status, and what it printed to standard output. */
  async end(name: string): Promise<{ readonly status: number; readonly output: string }> {
    const until = Date.now() + WAIT_MS;
    for (;;) {
      const { status } = await this.#containerd.call<Status>('ContainerStatus', {
        container_id: this.#containers.get(name),
      });
      if (status.state === 'EXITED') return { status: status.exit_code, output: this.output(name) };
      if (Date.now() > until) throw new Error(`${name} did not end: ${this.output(name)}`);
      await delay(50);
    }
  }

  /** Ends its containers and removes it. */
  async remove(): Promise<void> {
    await this.#containerd.call('StopPodSandbox', { pod_sandbox_id: this.#sandbox });
    await this.#containerd.call('RemovePodSandbox', { pod_sandbox_id: this.#sandbox });
  }

  /** What it printed so far. The log has the time, the stream, and F for the end of a line, before each piece. */
  output(name: string): string {
    const pieces = readFileSync(path.join(this.#dir, `${name}.log`), 'utf8').split('\n');
    return pieces
      .map((piece) => /^\S+ std(?:out|err) ([FP]) (.*)$/.exec(piece))
      .map((match) => (match === null ? '' : `${match[2]}${match[1] === 'F' ? '\n' : ''}`))
      .join('');
  }
}

export function sandboxConfig(pod: Pod, dir: string, cgroup: string): object {
  const { metadata, spec } = pod;
  return {
    metadata: { name: metadata.name, uid: path.basename(dir), namespace: 'run-claude', attempt: 0 },
    hostname: spec.hostname,
    log_directory: dir,
    dns_config: { servers: spec.dnsConfig?.nameservers ?? ['10.96.0.10'] },
    labels: metadata.labels,
    annotations: metadata.annotations ?? {},
    linux: {
      cgroup_parent: cgroup,
      security_context: { namespace_options: { network: 'POD', pid: 'CONTAINER', ipc: 'POD' } },
      sysctls: Object.fromEntries(spec.securityContext.sysctls.map(({ name, value }) => [name, value])),
    },
  };
}

/** The kubelet puts `$(` where a pod has `$$(`. */
const expanded = (text: string): string => text.replaceAll('$$(', () => '$(');

export function containerConfig(
  pod: Pick<Pod, 'metadata'>,
  container: PodContainer,
  at: {
    readonly dir: string;
    readonly profile: string;
    /** The directory of the node behind a mount; by default one of the pod's own, which everybody may write. */
    readonly directoryOf?: (mount: PodContainer['volumeMounts'][number]) => string;
  },
): object {
  const { securityContext, resources } = container;
  const { cpu } = resources.limits;
  const [hosts, terminationLog] = ['hosts', `${container.name}-termination`].map((name) => path.join(at.dir, name));
  writeFileSync(hosts ?? '', '127.0.0.1 localhost\n');
  writeFileSync(terminationLog ?? '', '');
  chmodSync(terminationLog ?? '', 0o666);
  const ownDirectory = ({ name }: { readonly name: string }): string => {
    const directory = path.join(at.dir, `volume-${name}`);
    mkdirSync(directory, { recursive: true });
    chmodSync(directory, 0o777);
    return directory;
  };
  const volumes = container.volumeMounts.map((mount) => ({
    container_path: mount.mountPath,
    host_path: (at.directoryOf ?? ownDirectory)(mount),
    readonly: mount.readOnly,
  }));
  const env = Object.fromEntries(container.env.map(({ name, value }) => [name, expanded(value)]));
  return {
    metadata: { name: container.name, attempt: 0 },
    image: { image: container.image },
    command: container.command.map(expanded),
    working_dir: container.workingDir,
    envs: Object.entries({ ...env, ...ADDED_ENV }).map(([key, value]) => ({ key, value })),
    mounts: [
      ...volumes,
      { container_path: '/etc/hosts', host_path: hosts, readonly: false },
      { container_path: '/dev/termination-log', host_path: terminationLog, readonly: false },
    ],
    labels: { 'io.kubernetes.pod.name': pod.metadata.name },
    log_path: `${container.name}.log`,
    stdin: container.stdin,
    stdin_once: container.stdinOnce,
    tty: container.tty,
    linux: {
      resources: {
        memory_limit_in_bytes: Number.parseInt(resources.limits['memory'] ?? '', 10) * 1_048_576,
        ...(cpu === undefined ? {} : { cpu_period: CPU_PERIOD, cpu_quota: Number(cpu) * CPU_PERIOD }),
      },
      security_context: {
        capabilities: {
          add_capabilities: securityContext.capabilities.add,
          drop_capabilities: securityContext.capabilities.drop,
        },
        privileged: securityContext.privileged,
        namespace_options: { network: 'POD', pid: 'CONTAINER', ipc: 'POD' },
        run_as_user: { value: securityContext.runAsUser },
        run_as_group: { value: securityContext.runAsGroup },
        readonly_rootfs: securityContext.readOnlyRootFilesystem,
        no_new_privs: !securityContext.allowPrivilegeEscalation,
        masked_paths: [...MASKED.map((name) => `/proc/${name}`), '/sys/firmware'],
        readonly_paths: READ_ONLY,
        ...(securityContext.seccompProfile === undefined
          ? {}
          : { seccomp: { profile_type: 'Localhost', localhost_ref: at.profile } }),
      },
    },
  };
}
