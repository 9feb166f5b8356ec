import type { ContainerSpec, Mount } from '../../core/types/engine.ts';
import { ALL_GPUS, hostsOf } from './body.ts';
import { MASKED_PATHS, READONLY_PATHS, SYSCTLS } from './hardening/masked-paths.ts';

/** The part of the engine's record of a container that says what the container may do. */
export interface Inspect {
  readonly Path?: string;
  readonly Args?: readonly string[];
  readonly Config?: {
    readonly User?: string;
    readonly Hostname?: string;
    readonly WorkingDir?: string;
    readonly Tty?: boolean;
    readonly OpenStdin?: boolean;
    readonly StdinOnce?: boolean;
    readonly Env?: readonly string[] | null;
    readonly Labels?: Readonly<Record<string, string>>;
  };
  readonly HostConfig?: HostConfig;
  readonly Mounts?: readonly RecordedMount[];
}

interface HostConfig {
  readonly Memory?: number;
  readonly MemorySwap?: number;
  readonly NanoCpus?: number;
  readonly PidsLimit?: number | null;
  readonly ShmSize?: number;
  readonly ReadonlyRootfs?: boolean;
  readonly Privileged?: boolean;
  readonly OomKillDisable?: boolean | null;
  readonly AutoRemove?: boolean;
  readonly PublishAllPorts?: boolean;
  readonly NetworkMode?: string;
  readonly IpcMode?: string;
  readonly PidMode?: string;
  readonly UTSMode?: string;
  readonly UsernsMode?: string;
  readonly CgroupnsMode?: string;
  readonly CgroupParent?: string;
  readonly Runtime?: string;
  readonly LogConfig?: { readonly Type?: string };
  readonly RestartPolicy?: { readonly Name?: string };
  readonly CapAdd?: readonly string[] | null;
  readonly CapDrop?: readonly string[] | null;
  readonly SecurityOpt?: readonly string[] | null;
  readonly GroupAdd?: readonly string[] | null;
  readonly Devices?: readonly unknown[] | null;
  readonly DeviceRequests?: readonly unknown[] | null;
  readonly DeviceCgroupRules?: readonly unknown[] | null;
  readonly VolumesFrom?: readonly unknown[] | null;
  readonly ExtraHosts?: readonly unknown[] | null;
  readonly Links?: readonly unknown[] | null;
  readonly MaskedPaths?: readonly string[] | null;
  readonly ReadonlyPaths?: readonly string[] | null;
  readonly Sysctls?: Readonly<Record<string, string>> | null;
  readonly Tmpfs?: Readonly<Record<string, string>> | null;
  readonly Ulimits?: readonly { readonly Name: string; readonly Soft: number; readonly Hard: number }[] | null;
}

export interface RecordedMount {
  readonly Type: string;
  readonly Name?: string;
  readonly Source?: string;
  readonly Destination: string;
  readonly RW: boolean;
  readonly Propagation?: string;
}

const MB = 1024 * 1024;

/**
 * Every difference between the spec and the engine's record of the created container, one line each, for the user. Empty:
 * as requested. Engines accept options that they do not know or cannot apply without an error (Docker 20.10 drops unknown
 * fields), so the record is compared with the spec, not with the request. `paths`: 'seen inside' for an engine whose
 * record has no masks, kernel settings and seccomp profile; they are not compared then.
 */
export function compareRecord(
  spec: ContainerSpec,
  record: unknown,
  paths: 'in the record' | 'seen inside' = 'in the record',
): readonly string[] {
  const inspect = record as Inspect;
  const host = inspect.HostConfig ?? {};
  return [
    ...compareProcess(spec, inspect),
    ...compareLimits(spec, host),
    ...compareIsolation(spec, host),
    ...(paths === 'in the record' ? compareKernelView(spec, host) : []),
    ...compareMounts(spec, inspect),
  ];
}

function compareProcess(spec: ContainerSpec, inspect: Inspect): readonly string[] {
  const config = inspect.Config ?? {};
  const [program, ...args] = spec.argv;
  // A name without a value removes a variable of the image.
  const recorded = (config.Env ?? []).filter((pair) => pair.includes('='));
  const nameOf = (pair: string) => pair.slice(0, pair.indexOf('='));
  return [
    // Without the words: a prompt may be long and private.
    ...differs('program', true, inspect.Path === program && JSON.stringify(inspect.Args) === JSON.stringify(args)),
    ...differs('user', spec.user, config.User),
    ...differs('hostname', spec.hostname, config.Hostname),
    ...differs('working directory', spec.workdir, config.WorkingDir),
    ...differs('terminal', spec.tty, config.Tty),
    ...differs('stdin', spec.stdin === 'stream', config.OpenStdin),
    ...differs('end of stdin with its client', spec.stdin === 'stream', config.StdinOnce),
    ...differs('session label', spec.sessionId, config.Labels?.['run-claude.session']),
    // Names only: values may be private. A PATH of the image is accepted where the spec has none.
    ...Object.entries(spec.env)
      .filter(([name, value]) => !recorded.includes(`${name}=${value}`))
      .map(([name]) => `environment variable ${name} is not as asked`),
    ...recorded
      .map(nameOf)
      .filter((name) => !(name in spec.env) && name !== 'PATH')
      .map((name) => `environment variable ${name} comes from elsewhere`),
  ];
}

function compareLimits(spec: ContainerSpec, host: HostConfig): readonly string[] {
  const { limits } = spec;
  const ulimit = (name: string) => {
    const found = host.Ulimits?.find((one) => one.Name === name);
    return found && `${found.Soft}:${found.Hard}`;
  };
  return [
    ...differs('memory limit', limits.memoryMb * MB, host.Memory),
    ...differs('memory and swap limit', limits.memoryMb * MB, host.MemorySwap),
    ...differs('processor limit', Math.round(limits.cpus * 1e9), host.NanoCpus ?? 0),
    ...differs('process limit', limits.pids, host.PidsLimit),
    ...differs('shared memory size', limits.shmMb * MB, host.ShmSize),
    ...differs('core dump limit', '1:1', ulimit('core')),
    ...differs('open file limit', `${limits.nofile}:${limits.nofile}`, ulimit('nofile')),
    ...differs('memory killer switched off', false, host.OomKillDisable ?? false),
  ];
}

function compareIsolation(spec: ContainerSpec, host: HostConfig): readonly string[] {
  const options = host.SecurityOpt ?? [];
  const network = spec.network === 'none' ? 'none' : spec.network.bridge;
  const none = (what: string, list: readonly unknown[] | null | undefined) =>
    (list ?? []).length === 0 ? [] : [`${what} were added`];
  return [
    ...differs('read-only root', true, host.ReadonlyRootfs),
    ...differs('privileged', false, host.Privileged),
    ...differs('capabilities dropped', 'ALL', capabilities(host.CapDrop)),
    ...differs('capabilities kept', capabilities(spec.capabilities), capabilities(host.CapAdd)),
    ...differs('no-new-privileges', true, options.some(isNoNewPrivileges)),
    ...options
      .filter((one) => !isNoNewPrivileges(one) && !isSeccomp(one))
      .map((one) => `security option ${one} was added`),
    ...differs('network', network, host.NetworkMode),
    ...differs('IPC namespace', 'private', host.IpcMode),
    ...differs('cgroup namespace', 'private', host.CgroupnsMode),
    ...differs('process namespace', '', own(host.PidMode)),
    ...differs('host name namespace', '', own(host.UTSMode)),
    ...differs('user namespace', '', own(host.UsernsMode)),
    ...differs('log driver', 'none', host.LogConfig?.Type),
    ...differs('restart policy', 'no', host.RestartPolicy?.Name || 'no'),
    ...differs('removal by the engine', false, host.AutoRemove),
    ...differs('ports published', false, host.PublishAllPorts ?? false),
    ...(spec.runtime === undefined ? [] : differs('runtime', spec.runtime, host.Runtime)),
    ...none('groups', host.GroupAdd),
    ...none('devices', host.Devices),
    ...(spec.gpus === true
      ? differs('graphics processors', true, isAllGpus(host.DeviceRequests))
      : none('device requests', host.DeviceRequests)),
    ...none('device rules', host.DeviceCgroupRules),
    ...none("another container's volumes", host.VolumesFrom),
    ...differs('host names', hostsOf(spec.loopbackNames ?? []).join(' '), (host.ExtraHosts ?? []).join(' ')),
    ...none('links', host.Links),
  ];
}

/** Exactly the one request, whatever an engine writes for an empty field. */
function isAllGpus(requests: HostConfig['DeviceRequests']): boolean {
  if (requests?.length !== 1) return false;
  const found = requests[0] as Partial<Record<keyof typeof ALL_GPUS, unknown>>;
  const isEmpty = (field: unknown): boolean => Object.keys((field ?? {}) as object).length === 0;
  return (
    found.Count === ALL_GPUS.Count &&
    JSON.stringify(found.Capabilities) === JSON.stringify(ALL_GPUS.Capabilities) &&
    (found.Driver ?? '') === '' &&
    isEmpty(found.DeviceIDs) &&
    isEmpty(found.Options)
  );
}

function compareKernelView(spec: ContainerSpec, host: HostConfig): readonly string[] {
  const options = host.SecurityOpt ?? [];
  return [
    ...(spec.seccomp === undefined
      ? differs('seccomp', undefined, options.find(isSeccomp))
      : differs('our seccomp profile', true, options.includes(`seccomp=${spec.seccomp}`))),
    ...missing('masked path', MASKED_PATHS, host.MaskedPaths ?? []),
    ...missing('read-only path', READONLY_PATHS, host.ReadonlyPaths ?? []),
    ...Object.entries(SYSCTLS).flatMap(([name, value]) => differs(name, value, host.Sysctls?.[name])),
  ];
}

function compareMounts(spec: ContainerSpec, inspect: Inspect): readonly string[] {
  const recorded = inspect.Mounts ?? [];
  const tmpfs = inspect.HostConfig?.Tmpfs ?? {};
  const asked = new Set(spec.mounts.map((mount) => mount.target));
  const targets = [...recorded.map((mount) => mount.Destination), ...Object.keys(tmpfs)];
  return [
    ...spec.mounts.flatMap((mount) =>
      mount.kind === 'tmpfs'
        ? compareTmpfs(mount, tmpfs[mount.target])
        : compareMount(
            mount,
            recorded.find((one) => one.Destination === mount.target),
          ),
    ),
    // A VOLUME of the image would be writable, and would have to be removed.
    ...targets.filter((target) => !asked.has(target)).map((target) => `${target} was mounted besides`),
  ];
}

function compareMount(mount: Exclude<Mount, { kind: 'tmpfs' }>, found: RecordedMount | undefined): readonly string[] {
  if (found === undefined) return [`${mount.target} is not mounted`];
  const { target } = mount;
  const same =
    mount.kind === 'volume'
      ? found.Name === mount.volume
      : // Docker Desktop names host directories by their path in its virtual machine.
        found.Source === mount.source || found.Source === `/host_mnt${mount.source}`;
  return [
    ...differs(`${target} kind`, mount.kind, found.Type),
    ...(same ? [] : [`${target} is mounted from elsewhere`]),
    ...differs(`${target} read-only`, mount.readonly, !found.RW),
    ...(mount.kind === 'bind' ? differs(`${target} propagation`, 'rprivate', found.Propagation) : []),
  ];
}

function compareTmpfs(mount: Extract<Mount, { kind: 'tmpfs' }>, found: string | undefined): readonly string[] {
  if (found === undefined) return [`${mount.target} is not a tmpfs`];
  const options = found.split(',');
  const wanted = ['nosuid', 'nodev', ...(mount.noexec ? ['noexec'] : []), `size=${mount.sizeMb}m`];
  return missing(`${mount.target} option`, wanted, options);
}

/** Engines write them with and without the prefix. */
function capabilities(list: readonly string[] | null | undefined): string {
  return (list ?? [])
    .map((name) => name.toUpperCase().replace(/^CAP_/, ''))
    .sort()
    .join(',');
}

/** Podman writes 'private' where Docker leaves it empty; both are the container's own. */
function own(mode: string | undefined): string {
  return mode === undefined || mode === 'private' ? '' : mode;
}

function isSeccomp(option: string): boolean {
  return option.startsWith('seccomp=') || option.startsWith('seccomp:');
}

function isNoNewPrivileges(option: string): boolean {
  return /^no-new-privileges([:=]true)?$/.test(option);
}

function missing(what: string, wanted: readonly string[], found: readonly string[]): readonly string[] {
  return wanted.filter((one) => !found.includes(one)).map((one) => `${what} ${one} is missing`);
}

function differs(what: string, wanted: unknown, found: unknown): readonly string[] {
  if (wanted === found) return [];
  if (wanted === true) return [`${what}: not set`];
  return [`${what}: asked for ${say(wanted)}, got ${say(found)}`];
}

function say(value: unknown): string {
  return value === undefined || value === null || value === '' ? 'none' : String(value);
}
