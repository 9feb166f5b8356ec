import { chmodSync, chownSync, lstatSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { treesOf } from '../base/stacked.ts';
import { removeContainers } from '../engine/remove-containers.ts';
import { RunClaudeError } from '../errors.ts';
import { removeTreeSync } from '../host/remove-tree.ts';
import { makePrivateDir } from '../store/record.ts';
import type { Engine, Mount } from '../types/engine.ts';
import type { WorkspaceOptions } from './layer.ts';
import { closeOverlay, linkOverlay, removeLayerDir } from './layers.ts';
import { createOverlay } from './overlay-volume.ts';
import { fillLayer, joinablePath, layerVolume } from './volume.ts';
import type { VolumeBase } from './volume-base.ts';

/** A view of what a session left that changes nothing of it. */
export interface ThrowAway {
  readonly mounts: readonly Mount[];
  /** What is written in it goes with it; otherwise nothing can be written. */
  readonly writable: boolean;
  close(): Promise<void>;
}

/**
 * A layer over the session's layer over its base; a whole copy is shown read-only.
 * Preconditions: nobody else mounts the session's layer. Throws RunClaudeError WORKSPACE_GONE, STRATEGY_UNUSABLE.
 */
export async function openThrowAway(options: WorkspaceOptions, record: unknown): Promise<ThrowAway> {
  const { plan } = options;
  const known = (record ?? {}) as {
    readonly strategy?: unknown;
    readonly generation?: unknown;
    readonly volume?: VolumeBase;
  };
  const upper = path.join(plan.sessionDir, 'layer', 'upper');
  if (known.strategy === 'copy') {
    const mount: Mount = { kind: 'bind', source: upper, target: '/workspace', readonly: true };
    return { mounts: [mount], writable: false, close: async () => undefined };
  }
  if (known.strategy === 'layers' && typeof known.generation === 'string') {
    return openOverlay(options, upper, treesOf(known.generation));
  }
  // Straight over the project, as the session itself was.
  if (known.strategy === 'overlay') return openOverlay(options, upper, [plan.project.root]);
  if (known.strategy === 'volume' && typeof known.generation === 'string' && known.volume !== undefined) {
    return openVolumes(options, known.generation, known.volume);
  }
  throw new RunClaudeError('WORKSPACE_GONE', 'this session has no workspace on record');
}

/** Made while there is one, whatever the strategy: what is found there later was left by a command that was killed. */
export function throwAwayDir(sessionDir: string): string {
  return path.join(sessionDir, 'explore');
}

/** Ends and removes what a killed command left in the engine of one. Nobody else may stand on the session's layer. */
export async function dropThrowAway(engine: Engine, sessionId: string): Promise<void> {
  await removeContainers(engine, sessionId);
  const { volume, own } = volumesOf(sessionId);
  await engine.removeVolume(volume);
  await engine.removeVolume(own);
}

function volumesOf(sessionId: string) {
  return { volume: `run-claude-${sessionId}-explore`, own: `run-claude-${sessionId}-explore-layer` };
}

/** As strategies/volume.ts does it: all three layers are directories in volumes of the engine. */
async function openVolumes({ plan, engine }: WorkspaceOptions, generation: string, base: VolumeBase) {
  const { sessionId, image, user } = plan;
  const { volume, own } = volumesOf(sessionId);
  const dir = throwAwayDir(plan.sessionDir);
  const [lowest, lower] = [await engine.findVolume(base.volume), await engine.findVolume(layerVolume(sessionId))];
  if (lowest === undefined || lower === undefined) {
    throw new RunClaudeError('WORKSPACE_GONE', "the session's volume is gone from the engine", {
      hint: 'What was collected from it is in its record: review, apply or discard that.',
    });
  }
  const close = async (): Promise<void> => {
    await engine.removeVolume(volume);
    await engine.removeVolume(own);
    removeTreeSync(dir);
  };
  // Those of a command that was killed.
  await close();
  makePrivateDir(dir);
  await engine.createVolume({ name: own, labels: { 'run-claude.session': sessionId } });
  await fillLayer({ engine, sessionId, image, user, generation }, own, '');
  const top = joinablePath(await engine.findVolume(own));
  const lowers = [`${joinablePath(lower)}/upper`, `${joinablePath(lowest)}/${base.place}/tree`];
  const above = { upper: `${top}/upper`, work: `${top}/work` };
  await createOverlay(engine, { name: volume, sessionId, lowers, above });
  const mount: Mount = { kind: 'volume', volume, target: '/workspace', readonly: false };
  return { mounts: [mount], writable: true, close };
}

/** As strategies/layers.ts does it: paths reach the engine as short links only. */
async function openOverlay(
  { plan, engine }: WorkspaceOptions,
  upper: string,
  trees: readonly string[],
): Promise<ThrowAway> {
  const dir = throwAwayDir(plan.sessionDir);
  const { volume } = volumesOf(plan.sessionId);
  // One of a command that was killed.
  await engine.removeVolume(volume);
  removeLayerDir(dir);
  for (const name of ['upper', 'work']) mkdirSync(path.join(dir, name), { recursive: true, mode: 0o700 });
  // The root that the shell sees is this one: it belongs to whom the session's own belongs.
  const { uid, gid, mode } = lstatSync(upper);
  if (process.getuid?.() === 0) chownSync(path.join(dir, 'upper'), uid, gid);
  chmodSync(path.join(dir, 'upper'), mode & 0o7777);
  await createOverlay(engine, { name: volume, sessionId: plan.sessionId, ...linkOverlay(dir, [upper, ...trees]) });
  return {
    mounts: [{ kind: 'volume', volume, target: '/workspace', readonly: false }],
    writable: true,
    async close() {
      await closeOverlay({ engine, sessionId: plan.sessionId, dir, target: '/workspace', image: plan.image }, volume);
      removeLayerDir(dir);
    },
  };
}
