import { existsSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { removeTreeSync } from '../../core/host/files/remove-tree.ts';
import { makePrivateDir } from '../../core/store/record.ts';
import type { Mount } from '../../core/types/engine.ts';
import { taskSpec } from '../../engines/engine/hardening/hardened.ts';
import { readSeccompProfile } from '../../engines/engine/hardening/seccomp.ts';
import { copyPart } from '../../environment/setup/copy-part.ts';
import { writeNonce } from '../base/generations/generation.ts';
import { copyDelta, recordCopy } from './copy.ts';
import type { Layer, LayerView, WorkspaceOptions } from './layer.ts';
import { readNonce } from './overlay-layer.ts';
import { layerDir, WORKSPACE, workspaceVolume } from './places.ts';
import type { WorkspaceStrategy } from './strategy.ts';
import { sendOwnBase, type VolumeBase } from './volumes/volume-base.ts';
import type { WorkspaceRecord } from './workspace-record.ts';

/**
 * For an engine that mounts no overlay of its volumes: the project is sent for each session, and the agent works on a second
 * copy, compared as in the copy strategy.
 */
export const claimStrategy: WorkspaceStrategy = {
  sendBase({ plan, engine, tell }, generation) {
    const { sessionId, sessionDir, ownImage: image = plan.image, user, baseDir: dir } = plan;
    return sendOwnBase({ engine, dir, generation, user, image, sessionId, sessionDir, tell });
  },
  open: (options, record) => openClaim(options, volumeOf(record)),
  view: ({ sessionId, sessionDir }, record) => viewClaim(sessionId, layerDir(sessionDir), volumeOf(record)),
  async openScratch({ plan: { sessionId } }) {
    return { mounts: [workspaceMount(sessionId, true)], writable: false, close: async () => undefined };
  },
  layerVolumes: (sessionId) => [nonceVolume(sessionId), workspaceVolume(sessionId), baseVolume(sessionId)],
  planned: ({ sessionId }) => ({ mount: workspaceMount(sessionId, false) }),
};

/** What proves to the collector that it reads this session: the agent's own volume could hold anything. */
const nonceVolume = (sessionId: string): string => `run-claude-${sessionId}-layer`;
const baseVolume = (sessionId: string): string => `run-claude-${sessionId}-base`;

function workspaceMount(sessionId: string, readonly: boolean): Mount {
  return { kind: 'volume', volume: workspaceVolume(sessionId), target: WORKSPACE, readonly };
}

const DECIDE = 'What was collected from it is in its record: review, apply or discard that.';

function volumeOf({ volume }: WorkspaceRecord): VolumeBase {
  if (volume !== undefined) return volume;
  throw new RunClaudeError('RECORD_VERSION', "this session's record does not name the engine's volume", {
    hint: DECIDE,
  });
}

function viewClaim(sessionId: string, dir: string, base: VolumeBase): LayerView {
  const root = (name: string, volume: string) => ({
    name,
    mount: { kind: 'volume', volume, target: '', readonly: true } as const,
  });
  return {
    roots: [
      root('layer', nonceVolume(sessionId)),
      root('copy', workspaceVolume(sessionId)),
      root('store', base.volume),
    ],
    places: { upper: 'copy', generation: `store/${base.place}`, base: `store/${base.place}/tree` },
    nonces: { layer: readNonce(dir) ?? '', generation: base.nonce },
    delta: (collector) => copyDelta(collector, path.join(dir, 'manifest')),
  };
}

/** @throws {RunClaudeError} WORKSPACE_GONE when an earlier command's copy no longer exists; LAYER_COPY */
async function openClaim({ plan, engine }: WorkspaceOptions, base: VolumeBase): Promise<Layer> {
  const { sessionId, sessionDir } = plan;
  const dir = layerDir(sessionDir);
  const manifest = path.join(dir, 'manifest');
  const own = [nonceVolume(sessionId), workspaceVolume(sessionId)];
  makePrivateDir(dir);
  // Without a manifest no agent ever started on this copy.
  if (existsSync(manifest)) {
    for (const name of [...own, base.volume])
      if ((await engine.findVolume(name)) === undefined)
        throw new RunClaudeError('WORKSPACE_GONE', "the session's volume no longer exists in the engine", {
          hint: DECIDE,
        });
  } else {
    try {
      for (const name of own) {
        await engine.removeVolume(name);
        await engine.createVolume({ name, labels: { 'run-claude.session': sessionId } });
      }
      await copyBase({ plan, engine }, base, writeNonce(dir));
      await copyPart(engine, plan, 'workspace', (target) => ({ ...workspaceMount(sessionId, false), target }));
    } catch (error) {
      for (const name of [...own, base.volume]) await engine.removeVolume(name).catch(() => undefined);
      throw error;
    }
  }
  const mount = workspaceMount(sessionId, false);
  return {
    ...viewClaim(sessionId, dir, base),
    mounts: [mount],
    prunable: [mount],
    begin: (collector) => recordCopy(collector, manifest),
    async close(keep) {
      if (keep) return;
      for (const name of [...own, base.volume]) await engine.removeVolume(name);
      removeTreeSync(dir);
    },
  };
}

/** Both are empty. A file system that can share blocks between files does. */
const COPY = `set -eu
printf %s "$2" > /layer/nonce; chmod 600 /layer/nonce
cp -a --reflink=auto -- "/base/$1/tree/." /copy/`;

async function copyBase(
  { plan, engine }: Pick<WorkspaceOptions, 'plan' | 'engine'>,
  base: VolumeBase,
  nonce: string,
): Promise<void> {
  const { sessionId, ownImage: image = plan.image } = plan;
  const volume = (name: string, target: string, readonly: boolean): Mount => ({
    kind: 'volume',
    volume: name,
    target,
    readonly,
  });
  const container = await engine.create(
    taskSpec({
      sessionId,
      suffix: 'copy',
      image,
      seccomp: await readSeccompProfile(),
      user: '0:0',
      capabilities: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID'],
      argv: ['/bin/sh', '-c', COPY, 'copy', base.place, nonce],
      mounts: [
        volume(base.volume, '/base', true),
        volume(workspaceVolume(sessionId), '/copy', false),
        volume(nonceVolume(sessionId), '/layer', false),
      ],
      stdin: 'none',
    }),
  );
  try {
    let errors = '';
    container.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString('latin1')).slice(-500);
    });
    container.stdout.resume();
    await container.start();
    if ((await container.wait()) === 0) return;
    throw new RunClaudeError('LAYER_COPY', `the project could not be copied for the session: ${errors.trim()}`, {
      hint: 'Is there room in the volume?',
    });
  } finally {
    await container.remove();
  }
}
