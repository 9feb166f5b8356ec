import path from 'node:path';
import { parseUser } from '../../core/host/user.ts';
import type { Mount } from '../../core/types/engine.ts';
import type { AlsoFolder } from '../../core/types/plan.ts';
import { treesOf } from '../base/generations/stacked.ts';
import type { Owner } from '../base/refresh/touched-directories.ts';
import type { ScratchOver } from './layer.ts';
import { parseWorkspaceRecord } from './workspace-record.ts';

/** Where containers see the project. */
export const WORKSPACE = '/workspace';

/** The mounts of a folder's workspace, at the folder's own place. Nothing can be written to a read-only one. */
export function mountsOfFolder(
  mounts: readonly Mount[],
  { name, isReadonly }: Pick<AlsoFolder, 'name' | 'isReadonly'>,
): readonly Mount[] {
  return mounts.map((mount) => {
    const moved = { ...mount, target: mount.target.replace(/^\/workspace(?=\/|$)/, `/also/${name}`) };
    return moved.kind === 'tmpfs' || !isReadonly ? moved : { ...moved, readonly: true };
  });
}

/** Where a session's layer is stored, or what is kept on this machine of a layer in the engine. */
export function layerDir(sessionDir: string): string {
  return path.join(sessionDir, 'layer');
}

/** Where a scratch layer is stored. The directory exists while there is one, whatever the strategy: found later, it was left by a command that was killed. */
export function scratchDir(sessionDir: string, over: ScratchOver): string {
  return path.join(sessionDir, SCRATCH[over]);
}

/** One for each side, so that a rehearsal can have both. */
const SCRATCH = { session: 'explore', base: 'explore-base' } as const satisfies Readonly<Record<ScratchOver, string>>;
export const SCRATCH_SIDES: readonly ScratchOver[] = ['session', 'base'];

/** The engine's volume that the agent mounts. */
export function workspaceVolume(sessionId: string): string {
  return `run-claude-${sessionId}-workspace`;
}

/** Volumes of a scratch layer: the one that the shell mounts, and the one for its files where those are in the engine. */
export function scratchVolumes(
  sessionId: string,
  over: ScratchOver,
): { readonly merged: string; readonly own: string } {
  const merged = `run-claude-${sessionId}-${SCRATCH[over]}`;
  return { merged, own: `${merged}-layer` };
}

/**
 * The owner that files get for the container's user; undefined where this process may not give files away: there the
 * files are this user's, and so is the container's user.
 */
export function ownerInside(user: string): Owner | undefined {
  const { uid, gid } = parseUser(user);
  if (process.getuid?.() !== 0 || uid === 0) return undefined;
  return { uid, gid };
}

/**
 * Where the base of a session's workspace is on this machine: the list of its entries, and the directories that hold them.
 * No engine is needed to read it. `record`: as in the session's record.
 *
 * @throws {RunClaudeError} as parseWorkspaceRecord.
 */
export function basePlace(record: unknown): { readonly manifest: string; readonly trees: readonly string[] } {
  const { generation } = parseWorkspaceRecord(record);
  return { manifest: path.join(generation, 'manifest'), trees: treesOf(generation) };
}
