import { existsSync } from 'node:fs';
import { release } from 'node:os';
import type { EngineFacts } from '../../core/types/engine.ts';
import { type InfoAnswer, infoAnswer, type PodmanInfo, readAnswer, versionAnswer } from './answers.ts';
import { type Endpoint, endpointName } from './connection/endpoint.ts';

/** Reads the answers to GET /version and GET /info. @throws {RunClaudeError} ENGINE_ANSWER */
export function readFacts(
  endpoint: Endpoint,
  platform: NodeJS.Platform,
  answers: { readonly version: unknown; readonly info: unknown },
): EngineFacts {
  const version = readAnswer(answers.version, versionAnswer, '/version');
  const info = readAnswer(answers.info, infoAnswer, '/info');
  const podman = version.Components?.find((component) => /podman/i.test(component.Name ?? ''));
  const number = podman?.Version ?? version.Version ?? 'unknown';
  const system = info.OperatingSystem ?? '';
  const kernel = info.KernelVersion ?? version.KernelVersion ?? '';
  const dataRoot = info.DockerRootDir ?? '';
  const options = (info.SecurityOptions ?? []).map((option) => option.split(',')[0]?.replace('name=', '') ?? '');
  return {
    kind: podman ? 'podman' : 'docker',
    name: displayName(podman ? 'Podman' : 'Docker', number, system),
    version: number,
    apiVersion: version.ApiVersion ?? 'unknown',
    endpoint: endpointName(endpoint),
    // Podman's answer has a new one each time.
    ...(podman === undefined && typeof info.ID === 'string' ? { id: info.ID } : {}),
    os: version.Os ?? 'linux',
    arch: version.Arch ?? 'unknown',
    kernel,
    local: isLocal(endpoint, platform, kernel, system, dataRoot),
    rootless: options.includes('rootless'),
    usernsRemap: options.includes('userns'),
    cgroupVersion: info.CgroupVersion === '2' ? 2 : 1,
    seccomp: options.includes('seccomp'),
    memoryLimit: info.MemoryLimit === true,
    swapLimit: info.SwapLimit === true,
    pidsLimit: info.PidsLimit === true,
    cpuLimit: info.CpuCfsQuota === true,
    runtimes: Object.keys(info.Runtimes ?? {}),
    gpus: podman === undefined && hasGpus(info),
    ...(typeof info.NCPU === 'number' ? { processors: info.NCPU } : {}),
    ...(typeof info.MemTotal === 'number' ? { memoryMb: Math.floor(info.MemTotal / 1_048_576) } : {}),
    dataRoot,
  };
}

/**
 * Adds what Podman reports in its own API. Its answers in Docker's form describe the machine, while a rootless Podman has
 * only the controllers that were delegated to it (with cgroup v1: none).
 */
export function withPodmanInfo(facts: EngineFacts, { host }: PodmanInfo): EngineFacts {
  const delegated = (name: string): boolean => host?.cgroupControllers?.includes(name) === true;
  return {
    ...facts,
    rootless: host?.security?.rootless === true,
    seccomp: host?.security?.seccompEnabled === true,
    memoryLimit: facts.memoryLimit && delegated('memory'),
    swapLimit: facts.swapLimit && delegated('memory'),
    pidsLimit: facts.pidsLimit && delegated('pids'),
    cpuLimit: facts.cpuLimit && delegated('cpu'),
  };
}

/** NVIDIA's toolkit adds a runtime, or describes its devices. Docker has no other driver for the capability 'gpu'. */
function hasGpus({ Runtimes, DiscoveredDevices }: InfoAnswer): boolean {
  const isGpu = ({ ID }: { readonly ID: string | null | undefined }): boolean =>
    ID?.startsWith('nvidia.com/gpu=') === true;
  return 'nvidia' in (Runtimes ?? {}) || (DiscoveredDevices ?? []).some(isGpu);
}

function displayName(product: string, version: string, system: string): string {
  const wrapper = /OrbStack|Docker Desktop/.exec(system)?.[0];
  return wrapper ? `${wrapper} (${product} ${version})` : `${product} ${version}`;
}

/**
 * Whether the engine runs on this machine: it has the same kernel, and its data directory exists here. (run-claude in a
 * container with the host's socket has the kernel, but not the directory.)
 */
function isLocal(endpoint: Endpoint, platform: NodeJS.Platform, kernel: string, system: string, root: string): boolean {
  if (endpoint.kind !== 'unix' || platform !== 'linux' || /Docker Desktop|OrbStack/.test(system)) return false;
  return kernel === release() && root !== '' && existsSync(root);
}
