import type Docker from 'dockerode';
import type { FoundObject } from '../../core/types/engine.ts';
import { containerList, imageList, networkList, readAnswer, volumeList } from './answers.ts';
import { OWNER_LABEL, SESSION_LABEL } from './body.ts';
import { IMAGE_LABEL } from './build.ts';

/** What run-claude made on this engine for this owner: of one session, or of all, with the images. */
export async function listObjects(
  docker: Docker,
  owner: string,
  sessionId: string | undefined,
): Promise<readonly FoundObject[]> {
  const session = sessionId === undefined ? SESSION_LABEL : `${SESSION_LABEL}=${sessionId}`;
  const filters = { label: [`${OWNER_LABEL}=${owner}`, session] };
  const answers = await Promise.all([
    docker.listContainers({ all: true, filters }),
    docker.listVolumes({ filters }),
    docker.listNetworks({ filters }),
  ]);
  const containers = readAnswer(answers[0], containerList, 'the list of containers');
  const volumes = readAnswer(answers[1], volumeList, 'the list of volumes');
  const networks = readAnswer(answers[2], networkList, 'the list of networks');
  return [
    ...containers.map((found) => ({
      kind: 'container' as const,
      id: found.Id,
      name: found.Names?.[0]?.replace(/^\//, '') ?? found.Id,
      labels: found.Labels ?? {},
      running: ['running', 'paused', 'restarting'].includes(found.State ?? ''),
      createdMs: (found.Created ?? 0) * 1000,
    })),
    ...(volumes.Volumes ?? []).map((found) => ({
      kind: 'volume' as const,
      id: found.Name,
      name: found.Name,
      labels: found.Labels ?? {},
      running: false,
      createdMs: Date.parse(found.CreatedAt ?? '') || 0,
    })),
    ...networks.map((found) => ({
      kind: 'network' as const,
      id: found.Id,
      name: found.Name,
      labels: found.Labels ?? {},
      running: false,
      createdMs: Date.parse(found.Created ?? '') || 0,
    })),
    ...(sessionId === undefined ? await listImages(docker) : []),
  ];
}

/**
 * Images have no owner: their address is a digest of their inputs. An image that a user built upon one of run-claude's
 * inherits the label, so names are compared too. An image without a name counts only as a stage of a build.
 */
async function listImages(docker: Docker): Promise<FoundObject[]> {
  const answers = await Promise.all([
    docker.listImages({ filters: { label: [IMAGE_LABEL] } }),
    docker.listContainers({ all: true }),
  ]);
  const images = readAnswer(answers[0], imageList, 'the list of images');
  const containers = readAnswer(answers[1], containerList, 'the list of containers');
  const used = new Set(containers.map(({ ImageID }) => ImageID));
  return images.flatMap((found) => {
    const tags = (found.RepoTags ?? []).filter((tag) => tag !== '<none>:<none>');
    // Podman puts a registry before the name.
    const own = tags.map((tag) => tag.replace(/^(docker\.io\/library|localhost)\//, '')).filter(isOwnImage);
    const stage = tags.length === 0 && found.Labels?.[IMAGE_LABEL] === 'stage';
    return (stage ? [found.Id] : own).map((name) => ({
      kind: 'image' as const,
      id: found.Id,
      name,
      labels: found.Labels ?? {},
      running: used.has(found.Id),
      createdMs: (found.Created ?? 0) * 1000,
    }));
  });
}

function isOwnImage(tag: string): boolean {
  return /^run-claude(-unproven|-old)?:[0-9a-f]{16}$/.test(tag) || /^run-claude-base:[\w.-]+$/.test(tag);
}
