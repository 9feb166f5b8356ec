import { lstatSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { removeTreeSync } from '../../core/host/files/remove-tree.ts';
import { parseUser } from '../../core/host/user.ts';
import { makePrivateDir } from '../../core/store/record.ts';
import type { FoundVolume, Mount } from '../../core/types/engine.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { unpackInto } from '../../engines/engine/containers/unpack.ts';
import { HELPER_USER, taskSpec } from '../../engines/engine/hardening/hardened.ts';
import { readSeccompProfile } from '../../engines/engine/hardening/seccomp.ts';
import { writeNonce } from '../base/generations/generation.ts';
import type { Layer, LayerView, ScratchLayer, ScratchOver } from './layer.ts';
import { madeBySetup } from './made-by-setup.ts';
import { overlayDelta, readNonce } from './overlay-layer.ts';
import { createOverlay } from './overlay-volume.ts';
import { layerDir, scratchDir, scratchVolumes, WORKSPACE, workspaceVolume } from './places.ts';
import type { WorkspaceStrategy } from './strategy.ts';
import { sendBase, type VolumeBase } from './volumes/volume-base.ts';
import type { WorkspaceRecord } from './workspace-record.ts';

/** The same overlay over directories of the engine's own volumes: no path of this machine is mounted. */
export const volumeStrategy: WorkspaceStrategy = {
  sendBase({ plan, engine, tell }, generation) {
    const { sessionId, sessionDir, ownImage: image = plan.image, user, baseDir: dir } = plan;
    return sendBase({ engine, dir, generation, user, image, sessionId, sessionDir, tell });
  },
  async open({ plan, engine }, record) {
    const { sessionId, sessionDir, ownImage: image = plan.image, user } = plan;
    const made = await madeBySetup(engine, plan);
    const place = { engine, sessionId, image, user, generation: record.generation, made };
    return openVolumeLayer({ ...place, dir: layerDir(sessionDir), base: volumeOf(record) });
  },
  view: ({ sessionId, sessionDir }, record) => viewVolume(sessionId, layerDir(sessionDir), volumeOf(record)),
  async openScratch({ plan, engine }, record, over) {
    const { sessionId, sessionDir, ownImage: image = plan.image, user } = plan;
    const made = await madeBySetup(engine, plan);
    const place = { engine, sessionId, image, user, generation: record.generation, made };
    return openScratch({ ...place, dir: scratchDir(sessionDir, over), base: volumeOf(record) }, over);
  },
  layerVolumes: (sessionId) => [layerVolume(sessionId)],
  planned: ({ sessionId }) => ({
    mount: { kind: 'volume', volume: workspaceVolume(sessionId), target: WORKSPACE, readonly: false },
  }),
};

function volumeOf({ volume }: WorkspaceRecord): VolumeBase {
  if (volume !== undefined) return volume;
  throw new RunClaudeError('RECORD_VERSION', "this session's record does not name the engine's volume", {
    hint: DECIDE,
  });
}

const DECIDE = 'What was collected from it is in its record: review, apply or discard that.';

function volumeGone(): RunClaudeError {
  return new RunClaudeError('WORKSPACE_GONE', "the session's volume no longer exists in the engine", { hint: DECIDE });
}

interface VolumePlace {
  readonly engine: Runtime;
  readonly sessionId: string;
  readonly image: string;
  /** 'uid:gid' inside. */
  readonly user: string;
  /** Keeps the layer's nonce on this machine. */
  readonly dir: string;
  /** On this machine: the layer's root gets the mode and time of its root. */
  readonly generation: string;
  readonly base: VolumeBase;
  /** Trees below the base, which hold what a setup made. */
  readonly made: readonly string[];
}

/** Both sides of the layer in volumes of the engine: no path of this machine is mounted anywhere. */
function viewVolume(sessionId: string, dir: string, base: VolumeBase): LayerView {
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
 * The collector mounts both volumes, which keeps the engine from pruning them.
 *
 * @throws {RunClaudeError} WORKSPACE_GONE when an earlier command's layer no longer exists; STRATEGY_UNUSABLE
 */
async function openVolumeLayer(place: VolumePlace): Promise<Layer> {
  const { engine, sessionId, dir, base } = place;
  const layer = layerVolume(sessionId);
  const volume = workspaceVolume(sessionId);
  makePrivateDir(dir);
  const known = readNonce(dir);
  let found = await engine.findVolume(layer);
  if (known !== undefined && found === undefined) {
    throw volumeGone();
  }
  if (known === undefined) {
    // Without a nonce no agent ever started on this layer.
    await engine.removeVolume(layer);
    await engine.createVolume({ name: layer, labels: { 'run-claude.session': sessionId } });
    await fillLayer(place, layer, writeNonce(dir));
    found = await engine.findVolume(layer);
  }
  const [below, own] = [joinablePath(await engine.findVolume(base.volume)), joinablePath(found)];
  const lowers = [`${below}/${base.place}/tree`, ...place.made];
  await createOverlay(engine, {
    name: volume,
    sessionId,
    lowers,
    above: { upper: `${own}/upper`, work: `${own}/work` },
  });
  const mount: Mount = { kind: 'volume', volume, target: WORKSPACE, readonly: false };
  return {
    ...viewVolume(sessionId, dir, base),
    mounts: [mount],
    prunable: [mount],
    async close(keep) {
      await engine.removeVolume(volume);
      if (keep) return;
      await engine.removeVolume(layer);
      removeTreeSync(dir);
    },
  };
}

/** Where the engine keeps a volume, for an overlay of it. Throws RunClaudeError STRATEGY_UNUSABLE. */
function joinablePath(found: FoundVolume | undefined): string {
  const mountpoint = found?.mountpoint;
  if (mountpoint !== undefined && !/[,:\\]/.test(mountpoint)) return mountpoint;
  throw new RunClaudeError(
    'STRATEGY_UNUSABLE',
    `the engine keeps its volumes in ${mountpoint}, which cannot be joined`,
  );
}

/** The engine's volume for a session's upper and work directories. */
export function layerVolume(sessionId: string): string {
  return `run-claude-${sessionId}-layer`;
}

/** The directories of a layer in a fresh volume. */
async function fillLayer(
  place: Pick<VolumePlace, 'engine' | 'sessionId' | 'image' | 'user' | 'generation'>,
  volume: string,
  nonce: string,
): Promise<void> {
  const { engine, sessionId, image } = place;
  const { uid, gid } = parseUser(place.user);
  const root = lstatSync(path.join(place.generation, 'tree'));
  const spec = taskSpec({
    sessionId,
    suffix: 'layer',
    image,
    seccomp: await readSeccompProfile(),
    user: HELPER_USER,
    argv: ['/bin/true'],
    mounts: [{ kind: 'volume', volume, target: '/layer', readonly: false }],
    stdin: 'none',
  });
  const { pack } = await import('tar-stream');
  await unpackInto(engine, spec, '/layer', () => {
    const tar = pack();
    tar.entry({ name: 'nonce', mode: 0o600 }, nonce);
    tar.entry({ name: 'upper/', type: 'directory', mode: root.mode & 0o7777, uid, gid, mtime: root.mtime });
    tar.entry({ name: 'work/', type: 'directory', mode: 0o700 });
    tar.finalize();
    return tar;
  });
}

/** All three layers are directories in volumes of the engine. */
async function openScratch(place: VolumePlace, over: ScratchOver): Promise<ScratchLayer> {
  const { engine, sessionId, dir, base } = place;
  const { merged: volume, own } = scratchVolumes(sessionId, over);
  const [lowest, lower] = [await engine.findVolume(base.volume), await engine.findVolume(layerVolume(sessionId))];
  if (lowest === undefined || lower === undefined) throw volumeGone();
  const close = async (): Promise<void> => {
    await engine.removeVolume(volume);
    await engine.removeVolume(own);
    removeTreeSync(dir);
  };
  // A command that was killed may have left some.
  await close();
  makePrivateDir(dir);
  await engine.createVolume({ name: own, labels: { 'run-claude.session': sessionId } });
  await fillLayer(place, own, '');
  const top = joinablePath(await engine.findVolume(own));
  const session = over === 'session' ? [`${joinablePath(lower)}/upper`] : [];
  const lowers = [...session, `${joinablePath(lowest)}/${base.place}/tree`, ...place.made];
  const above = { upper: `${top}/upper`, work: `${top}/work` };
  await createOverlay(engine, { name: volume, sessionId, lowers, above });
  return { mounts: [{ kind: 'volume', volume, target: WORKSPACE, readonly: false }], writable: true, close };
}
