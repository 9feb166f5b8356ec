import { Readable } from 'node:stream';
import type Docker from 'dockerode';
import type { ContainerSpec } from '../../../core/types/engine.ts';
import { madeAnswer, readAnswer, volumeRecord } from '../answers.ts';
import { type Overlays, type PodmanParts, podmanBody } from './podman-body.ts';

/** Prefix of Podman's own API, at the same socket as Docker's. Every version since 4.0 serves it. */
const API = '/v4.0.0/libpod';

/** Creates a container with Podman's own API. */
export async function createOnPodman(
  docker: Docker,
  spec: ContainerSpec,
  parts: PodmanParts,
): Promise<Docker.Container> {
  const made = await ask(docker, 'POST', '/containers/create', podmanBody(spec, parts));
  const { Id } = readAnswer(made, madeAnswer, 'the new container');
  return docker.getContainer(Id);
}

/** Writes the names of the container's loopback into its own layer, before it starts. At run time its root is read-only. */
export async function nameLoopback(
  container: Docker.Container,
  { hostname, loopbackNames = [] }: ContainerSpec,
): Promise<void> {
  if (loopbackNames.length === 0) return;
  const { pack } = await import('tar-stream');
  const archive = pack();
  // As the image has them, and those of the spec.
  const text = `127.0.0.1\tlocalhost ${[hostname, ...loopbackNames].join(' ')}\n::1\tlocalhost\n`;
  archive.entry({ name: 'hosts', mode: 0o644, uid: 0, gid: 0 }, text);
  archive.finalize();
  await container.putArchive(Readable.from(archive), { path: '/etc' });
}

/** Podman's own record of a container, with more fields than its record in Docker's form. */
export function inspectOnPodman(docker: Docker, id: string): Promise<unknown> {
  return ask(docker, 'GET', `/containers/${id}/json`);
}

/** Address of Podman's own facts. */
export const PODMAN_INFO: string = `${API}/info`;

/** The overlays among the volumes that the spec mounts. */
export async function findOverlays(docker: Docker, spec: ContainerSpec): Promise<Overlays> {
  const found = new Map<string, readonly string[]>();
  for (const mount of spec.mounts) {
    if (mount.kind !== 'volume') continue;
    const { Options } = readAnswer(await docker.getVolume(mount.volume).inspect(), volumeRecord, 'the volume');
    if (Options?.['type'] === 'overlay') found.set(mount.volume, Options['o']?.split(',') ?? []);
  }
  return found;
}

function ask(docker: Docker, method: string, path: string, body?: object): Promise<unknown> {
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
    (docker.modem as Modem).dial(options, (error, answer) => (error ? reject(error) : resolve(answer)));
  });
}

interface Modem {
  dial(options: object, done: (error: Error | null, answer: unknown) => void): void;
}
