import type { ContainerSpec } from '../types/engine.ts';
import type { Client } from './connection/client.ts';
import { type Overlays, type PodmanParts, podmanBody } from './podman-body.ts';

/** Prefix of Podman's own API, at the same socket as Docker's. Every version since 4.0 serves it. */
const API = '/v4.0.0/libpod';

/** Creates a container with Podman's own API. Returns its id. */
export async function createOnPodman(client: Client, spec: ContainerSpec, parts: PodmanParts): Promise<string> {
  const made = await client.request('POST', `${API}/containers/create`, podmanBody(spec, parts));
  return (made as { readonly Id: string }).Id;
}

/** Podman's own record of a container, with more fields than its record in Docker's form. */
export function inspectOnPodman(client: Client, id: string): Promise<unknown> {
  return client.request('GET', `${API}/containers/${id}/json`);
}

/** Facts of Podman that Docker's form lacks, or gives for the machine instead of the engine. */
export interface PodmanInfo {
  readonly host?: {
    readonly cgroupControllers?: readonly string[] | null;
    readonly security?: { readonly rootless?: boolean; readonly seccompEnabled?: boolean };
  };
}

/** Address of {@link PodmanInfo}. */
export const PODMAN_INFO: string = `${API}/info`;

/** The overlays among the volumes that the spec mounts. */
export async function findOverlays(client: Client, spec: ContainerSpec): Promise<Overlays> {
  const found = new Map<string, readonly string[]>();
  for (const mount of spec.mounts) {
    if (mount.kind !== 'volume') continue;
    const volume = await client.request('GET', `/volumes/${encodeURIComponent(mount.volume)}`);
    const { Options } = volume as { readonly Options?: Readonly<Record<string, string>> | null };
    if (Options?.['type'] === 'overlay') found.set(mount.volume, Options['o']?.split(',') ?? []);
  }
  return found;
}
