import path from 'node:path';
import type { Owner } from '../base/refresh.ts';
import { parseUser } from '../host/user.ts';
import type { SelectionRules } from '../scan/selection.ts';
import type { StrategyName } from '../types/policy.ts';
import { openCopy, viewCopy } from './copy.ts';
import type { Layer, LayerView, WorkspaceOptions } from './layer.ts';
import { openLayers, viewLayers } from './layers.ts';
import { openOverlay, viewOverlay } from './overlay.ts';
import { openVolumeLayer, viewVolume } from './volume.ts';
import type { VolumeBase } from './volume-base.ts';

/** Opaque to all but this room: what a later command needs to open the same layer again. */
export interface WorkspaceRecord {
  readonly version: 1;
  readonly strategy: StrategyName;
  /** Of the base on this machine; none with `overlay`. */
  readonly generation: string;
  readonly entries: number;
  readonly rules: SelectionRules;
  /** The generation in the engine, with `volume`. */
  readonly volume?: VolumeBase;
}

const TARGET = '/workspace';

/** Opens the session's layer by the strategy on record. Throws what that one throws. */
export function openLayer(options: WorkspaceOptions, record: WorkspaceRecord): Promise<Layer> {
  const { plan, engine, tell, signal } = options;
  const { generation } = record;
  const { sessionId, image, user } = plan;
  const place = { dir: layerDir(plan.sessionDir), target: TARGET };
  if (record.strategy === 'copy') {
    const owner = ownerInside(user);
    return openCopy({ ...place, generation, owner, tell, ...(signal === undefined ? {} : { signal }) });
  }
  if (record.strategy === 'overlay')
    return openOverlay({ ...place, engine, sessionId, image, project: plan.project.root });
  if (record.strategy === 'volume') {
    return openVolumeLayer({ ...place, engine, sessionId, image, user, generation, base: volumeOf(record) });
  }
  return openLayers({ ...place, engine, sessionId, image, generation });
}

/** The same layer for a second reader: nothing is made, mounted or removed. */
export function viewLayer({ plan }: Pick<WorkspaceOptions, 'plan'>, record: WorkspaceRecord): LayerView {
  const dir = layerDir(plan.sessionDir);
  if (record.strategy === 'copy') return viewCopy(dir, record.generation);
  if (record.strategy === 'overlay') return viewOverlay(dir, plan.project.root);
  if (record.strategy === 'volume') return viewVolume(plan.sessionId, dir, volumeOf(record));
  return viewLayers(plan.sessionId, dir, record.generation);
}

/** Where a session's layer lies, or what is kept here of one that lies in the engine. */
export function layerDir(sessionDir: string): string {
  return path.join(sessionDir, 'layer');
}

/** Files are given to the container's user where we may; elsewhere they are ours, and so is the container's user. */
export function ownerInside(user: string): Owner | undefined {
  const { uid, gid } = parseUser(user);
  if (process.getuid?.() !== 0 || uid === 0) return undefined;
  return { uid, gid };
}

function volumeOf({ volume }: WorkspaceRecord): VolumeBase {
  if (volume === undefined) throw new TypeError('a record of the strategy volume names no volume');
  return volume;
}
