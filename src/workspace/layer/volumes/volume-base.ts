import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../../../core/errors.ts';
import { announceWait } from '../../../core/progress/announce-wait.ts';
import { withLock } from '../../../core/store/lock.ts';
import { writeFileAtomic } from '../../../core/store/record.ts';
import type { Runtime } from '../../../core/types/runtime.ts';
import { addRef, dropVoidRefs, generationRefs, releaseRef } from '../../base/generations/generation-refs.ts';
import { compareSnapshots, encodeSnapshot, loadSnapshot, type Snapshot } from '../../scan/snapshot.ts';
import { sendToVolume, type UploadOptions } from './volume-upload.ts';

// An engine that does not see this machine's files has one volume for each base, in it
//   gN/tree     a generation      gN/nonce   proves to the collector that it reads this one
// and here, in bases/<key>/engines/<id of the volume>, since an engine may have several addresses:
//   sent        what its newest generation holds (a snapshot); removed while that is being changed
//   users/ID.json   sessions that reference a generation

export interface VolumeBaseOptions extends UploadOptions {
  /** Of the project, as in BaseOptions. */
  readonly dir: string;
  readonly sessionDir: string;
}

export interface VolumeBase {
  readonly volume: string;
  /** Of the generation, in the volume. */
  readonly place: string;
  readonly nonce: string;
}

interface Sent {
  readonly version: 1;
  /** Label of the volume: another volume of the same name does not hold this base. */
  readonly volumeId: string;
  readonly owner: string;
  readonly generation: number;
  readonly nonce: string;
}

const ID_LABEL = 'run-claude.volume';
const LOCK_WAIT_MS = 60 * 60_000;

/**
 * Sends a generation to a volume of the engine, and records the session's reference to it there. Sends only what differs
 * from what the engine has.
 *
 * @throws {RunClaudeError} VOLUME_UPLOAD_FAILED, LOCK_HELD, and errors of the engine
 */
export async function sendBase(options: VolumeBaseOptions): Promise<VolumeBase> {
  const { dir, engine } = options;
  const volume = `run-claude-base-${path.basename(dir)}`;
  const volumeId = await findOrMakeVolume(engine, volume, path.basename(dir));
  const state = path.join(enginesDir(dir), volumeId);
  const what = `sending the private copy ${path.basename(dir)} to the engine for session ${options.sessionId}`;
  const lock = { what, waitMs: LOCK_WAIT_MS, waiting: announceWait(options.tell) };
  return withLock(path.join(state, 'lock'), lock, () => bringUpToDate(options, { volume, volumeId, state }));
}

/**
 * Sends a generation to a volume of the session's own, where no other session finds it.
 *
 * @throws {RunClaudeError} VOLUME_UPLOAD_FAILED, and errors of the engine
 */
export async function sendOwnBase(options: VolumeBaseOptions): Promise<VolumeBase> {
  const { engine, generation, sessionId, user } = options;
  const volume = `run-claude-${sessionId}-base`;
  await engine.removeVolume(volume);
  await engine.createVolume({ name: volume, labels: { 'run-claude.session': sessionId } });
  const snapshot = loadSnapshot(path.join(generation, 'manifest')).snapshot;
  const nonce = randomBytes(16).toString('hex');
  const sent: Sent = { version: 1, volumeId: '', owner: user, generation: 1, nonce };
  const differences = compareSnapshots(new Map(), snapshot);
  try {
    await sendToVolume(options, { volume, sent, from: '', kept: [], differences, snapshot });
  } catch (error) {
    await engine.removeVolume(volume);
    throw error;
  }
  return { volume, place: 'g1', nonce };
}

interface VolumeState {
  readonly volume: string;
  readonly volumeId: string;
  /** The directory of this machine about the volume. */
  readonly state: string;
}

async function bringUpToDate(
  options: VolumeBaseOptions,
  { volume, volumeId, state }: VolumeState,
): Promise<VolumeBase> {
  const { dir, user } = options;
  const snapshot = loadSnapshot(path.join(options.generation, 'manifest')).snapshot;
  const known = readSent(state);
  const valid = known?.header.volumeId === volumeId && known.header.owner === user ? known : undefined;
  const differences = compareSnapshots(valid?.snapshot ?? new Map(), snapshot);
  const used = usedGenerations(dir, volumeId);
  const current = valid?.header.generation;
  let sent = valid?.header;
  if (sent === undefined || differences.any) {
    const next = Math.max(0, current ?? 0, ...used) + 1;
    const target = current === undefined || used.has(current) ? next : current;
    sent = { version: 1, volumeId, owner: user, generation: target, nonce: randomBytes(16).toString('hex') };
    const kept = [...used, ...(current === undefined ? [] : [current])].map((number) => `g${number}`);
    rmSync(path.join(state, 'sent'), { force: true });
    await sendToVolume(options, {
      volume,
      sent,
      from: current === undefined ? '' : `g${current}`,
      kept,
      differences,
      snapshot,
    });
    writeFileAtomic(path.join(state, 'sent'), encodeSnapshot(sent, snapshot));
  }
  const { sessionDir, sessionId } = options;
  addRef(state, sessionId, { volumeId, generation: sent.generation, sessionDir });
  return { volume, place: `g${sent.generation}`, nonce: sent.nonce };
}

async function findOrMakeVolume(engine: Runtime, volume: string, key: string): Promise<string> {
  const found = (await engine.findVolume(volume))?.labels[ID_LABEL];
  if (found !== undefined) return requireVolumeId(found, volume);
  const id = randomBytes(8).toString('hex');
  await engine.createVolume({ name: volume, labels: { 'run-claude.session': `base-${key}`, [ID_LABEL]: id } });
  // Another command may have made it in the meantime: then its label counts.
  return requireVolumeId((await engine.findVolume(volume))?.labels[ID_LABEL] ?? id, volume);
}

/** The id becomes the name of a directory here. */
function requireVolumeId(id: string, volume: string): string {
  if (/^[0-9a-f]{16}$/.test(id)) return id;
  throw new RunClaudeError('VOLUME_UPLOAD_FAILED', `the volume ${volume} has a label that run-claude did not make`, {
    hint: `Remove it: docker volume rm ${volume}`,
  });
}

function readSent(state: string): { header: Sent; snapshot: Snapshot } | undefined {
  const file = path.join(state, 'sent');
  if (!existsSync(file)) return undefined;
  try {
    const { header, snapshot } = loadSnapshot(file);
    const sent = parseSent(header);
    return sent && { header: sent, snapshot };
  } catch (error) {
    // Damaged: everything is sent anew.
    if (error instanceof RunClaudeError && error.code === 'RECORD_DAMAGED') return undefined;
    throw error;
  }
}

function parseSent(value: unknown): Sent | undefined {
  const { version, volumeId, owner, generation, nonce } = (value ?? {}) as Partial<Record<keyof Sent, unknown>>;
  const texts = [volumeId, owner, nonce].every((one) => typeof one === 'string');
  return version === 1 && texts && Number.isSafeInteger(generation) ? (value as Sent) : undefined;
}

/** The generations in the volume that sessions use. An earlier release kept its references below the engine's address. */
function usedGenerations(dir: string, volumeId: string): ReadonlySet<number> {
  const all = stateDirs(dir).flatMap((state) => {
    dropVoidRefs(state);
    return generationRefs(state);
  });
  return new Set(all.flatMap((one) => (one.volumeId === volumeId ? [one.generation] : [])));
}

const enginesDir = (dir: string): string => path.join(dir, 'engines');

function stateDirs(dir: string): readonly string[] {
  const engines = enginesDir(dir);
  return (existsSync(engines) ? readdirSync(engines) : []).map((name) => path.join(engines, name));
}

/** Removes the session's references to generations in all engines. */
export function releaseVolumeBase(dir: string, sessionId: string): void {
  for (const state of stateDirs(dir)) releaseRef(state, sessionId);
}
