import type Docker from 'dockerode';
import type { ContainerSpec } from '../types/engine.ts';
import { type Overlays, type PodmanParts, podmanBody } from './podman-body.ts';

/** Of Podman's own API, beside Docker's at the same socket; every version from 4.0 on serves it. */
const API = '/v4.0.0/libpod';

/** Creates a container by Podman's own API. */
export async function createOnPodman(
  docker: Docker,
  spec: ContainerSpec,
  parts: PodmanParts,
): Promise<Docker.Container> {
  const { Id } = await ask<{ Id: string }>(docker, 'POST', '/containers/create', podmanBody(spec, parts));
  return docker.getContainer(Id);
}

/** Podman's own record of a container, which shows more than what it shows to Docker's clients. */
export function inspectOnPodman(docker: Docker, id: string): Promise<unknown> {
  return ask(docker, 'GET', `/containers/${id}/json`);
}

/** What of Podman's own facts Docker's form of them lacks, or says of the machine instead of the engine. */
export interface PodmanInfo {
  readonly host?: {
    readonly cgroupControllers?: readonly string[] | null;
    readonly security?: { readonly rootless?: boolean; readonly seccompEnabled?: boolean };
  };
}

/** Where {@link PodmanInfo} is asked for. */
export const PODMAN_INFO: string = `${API}/info`;

/** Of the volumes that the spec mounts, those that are overlays. */
export async function findOverlays(docker: Docker, spec: ContainerSpec): Promise<Overlays> {
  const found = new Map<string, readonly string[]>();
  for (const mount of spec.mounts) {
    if (mount.kind !== 'volume') continue;
    const { Options } = await docker.getVolume(mount.volume).inspect();
    if (Options?.['type'] === 'overlay') found.set(mount.volume, Options['o']?.split(',') ?? []);
  }
  return found;
}

function ask<T>(docker: Docker, method: string, path: string, body?: object): Promise<T> {
  const statusCodes = {
    200: true,
    201: true,
    400: 'bad parameter',
    404: 'no such object',
    409: 'conflict',
    500: 'server error',
  };
  const options = { path: `${API}${path}`, method, statusCodes, ...(body === undefined ? {} : { options: body }) };
  return new Promise((resolve, reject) => {
    (docker.modem as Modem).dial(options, (error, answer) => (error ? reject(error) : resolve(answer as T)));
  });
}

interface Modem {
  dial(options: object, done: (error: Error | null, answer: unknown) => void): void;
}
