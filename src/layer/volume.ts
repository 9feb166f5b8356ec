import { lstatSync } from 'node:fs';
import path from 'node:path';
import { writeNonce } from '../base/generation.ts';
import { taskSpec } from '../engine/hardening/hardened.ts';
import { readSeccompProfile } from '../engine/hardening/seccomp.ts';
import { RunClaudeError } from '../errors.ts';
import { removeTreeSync } from '../host/remove-tree.ts';
import { parseUser } from '../host/user.ts';
import { makePrivateDir } from '../store/record.ts';
import type { Engine, FoundVolume } from '../types/engine.ts';
import type { Layer, LayerView } from './layer.ts';
import { overlayDelta, readNonce } from './layers.ts';
import { createOverlay } from './overlay-volume.ts';
import type { VolumeBase } from './volume-base.ts';

export interface VolumePlace {
  readonly engine: Engine;
  readonly sessionId: string;
  readonly image: string;
  /** 'uid:gid' inside. */
  readonly user: string;
  /** Of the session, for what is kept on this machine: the nonce. */
  readonly dir: string;
  /** Generation on this machine, whose root directory's mode and time the layer's takes. */
  readonly generation: string;
  readonly base: VolumeBase;
  readonly target: string;
}

/** Both sides of the layer in volumes of the engine: no path of this machine is mounted anywhere. */
export function viewVolume(sessionId: string, dir: string, base: VolumeBase): LayerView {
  return {
    roots: [
      { name: 'layer', mount: { kind: 'volume', volume: layerVolume(sessionId), target: '', readonly: true } },
      { name: 'store', mount: { kind: 'volume', volume: base.volume, target: '', readonly: true } },
    ],
    places: { upper: 'layer/upper', generation: `store/${base.place}`, base: `store/${base.place}/tree` },
    nonces: { layer: readNonce(dir) ?? '', generation: base.nonce },
    delta: overlayDelta,
  };
}

/**
 * An overlay volume that the engine mounts over directories of its own volumes; the collector, which mounts both, keeps
 * them from being pruned. Throws RunClaudeError WORKSPACE_GONE when a layer that was there is not, STRATEGY_UNUSABLE.
 */
export async function openVolumeLayer(place: VolumePlace): Promise<Layer> {
  const { engine, sessionId, dir, base } = place;
  const layer = layerVolume(sessionId);
  const volume = `run-claude-${sessionId}-workspace`;
  makePrivateDir(dir);
  const known = readNonce(dir);
  let found = await engine.findVolume(layer);
  if (known !== undefined && found === undefined) {
    throw new RunClaudeError('WORKSPACE_GONE', "the session's volume is gone from the engine", {
      hint: 'What was collected from it is in its record: review, apply or discard that.',
    });
  }
  if (known === undefined) {
    // Without a nonce no agent ever started on it.
    await engine.removeVolume(layer);
    await engine.createVolume({ name: layer, labels: { 'run-claude.session': sessionId } });
    await fillLayer(place, layer, writeNonce(dir));
    found = await engine.findVolume(layer);
  }
  const [below, own] = [joinablePath(await engine.findVolume(base.volume)), joinablePath(found)];
  const lowers = [`${below}/${base.place}/tree`];
  await createOverlay(engine, {
    name: volume,
    sessionId,
    lowers,
    above: { upper: `${own}/upper`, work: `${own}/work` },
  });
  return {
    ...viewVolume(sessionId, dir, base),
    strategy: 'volume',
    mounts: [{ kind: 'volume', volume, target: place.target, readonly: false }],
    async close(keep) {
      await engine.removeVolume(volume);
      if (keep) return;
      await engine.removeVolume(layer);
      removeTreeSync(dir);
    },
  };
}

/** Where the engine keeps a volume, for an overlay of it. Throws RunClaudeError STRATEGY_UNUSABLE. */
export function joinablePath(found: FoundVolume | undefined): string {
  const mountpoint = found?.mountpoint;
  if (mountpoint !== undefined && !/[,:\\]/.test(mountpoint)) return mountpoint;
  throw new RunClaudeError(
    'STRATEGY_UNUSABLE',
    `the engine keeps its volumes in ${mountpoint}, which cannot be joined`,
  );
}

/** Of the engine, for a session's upper and work directories. */
export function layerVolume(sessionId: string): string {
  return `run-claude-${sessionId}-layer`;
}

/**
 * The directories of a layer in a fresh volume, by an archive into a container that never starts: it sets any owner and
 * mode, whatever the image is.
 */
export async function fillLayer(
  place: Pick<VolumePlace, 'engine' | 'sessionId' | 'image' | 'user' | 'generation'>,
  volume: string,
  nonce: string,
): Promise<void> {
  const { engine, sessionId, image } = place;
  const { uid, gid } = parseUser(place.user);
  const root = lstatSync(path.join(place.generation, 'tree'));
  const container = await engine.create(
    taskSpec({
      sessionId,
      suffix: 'layer',
      image,
      seccomp: await readSeccompProfile(),
      user: '65534:65534',
      argv: ['/bin/true'],
      mounts: [{ kind: 'volume', volume, target: '/layer', readonly: false }],
      stdin: 'none',
    }),
  );
  try {
    const { pack } = await import('tar-stream');
    const tar = pack();
    tar.entry({ name: 'nonce', mode: 0o600 }, nonce);
    tar.entry({ name: 'upper/', type: 'directory', mode: root.mode & 0o7777, uid, gid, mtime: root.mtime });
    tar.entry({ name: 'work/', type: 'directory', mode: 0o700 });
    tar.finalize();
    await engine.putArchive(container.id, '/layer', tar);
  } finally {
    await container.remove();
  }
}
