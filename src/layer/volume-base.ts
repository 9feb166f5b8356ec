import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { addRef, dropVoidRefs, generationRefs, releaseRef } from '../base/generation-refs.ts';
import { taskSpec } from '../engine/hardening/hardened.ts';
import { readSeccompProfile } from '../engine/hardening/seccomp.ts';
import { RunClaudeError } from '../errors.ts';
import { parseUser } from '../host/user.ts';
import {
  compareSnapshots,
  type Differences,
  encodeSnapshot,
  loadSnapshot,
  rowAt,
  type Snapshot,
} from '../scan/snapshot.ts';
import { withLock } from '../store/lock.ts';
import { writeFileAtomic } from '../store/record.ts';
import { encodeBytes, parentPath } from '../text/path.ts';
import type { Engine } from '../types/engine.ts';
import type { Tell } from '../types/event.ts';
import { type TarItem, writeTar } from './tar-write.ts';

// An engine that does not see this machine's files has one volume for each base, in it
//   gN/tree     a generation      gN/nonce   proves to the collector that it reads this one
// and here, in bases/<key>/engines/<id of the volume>, since an engine may have several addresses:
//   sent        what its newest generation holds (a snapshot); removed while that is being changed
//   users/ID.json   sessions that reference a generation

export interface VolumeBaseOptions {
  readonly engine: Engine;
  /** Of the project, as in BaseOptions. */
  readonly dir: string;
  /** The generation of this machine to be sent. Precondition: it does not change while it is sent. */
  readonly generation: string;
  /** 'uid:gid' inside. */
  readonly user: string;
  readonly image: string;
  readonly sessionId: string;
  readonly sessionDir: string;
  readonly tell: Tell;
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
/** Its exit status is that of tar, cp or rm, whose error output becomes the error message. */
const RECEIVE = `set -eu
cd /base; target=$1 from=$2 removals=$3 nonce=$4 unzip=$5; shift 5
for one in *; do
  kept=; for name; do if [ "$one" = "$name" ]; then kept=1; fi; done
  if [ -z "$kept" ] && [ "$one" != '*' ]; then rm -rf -- "$one"; fi
done
if [ -n "$from" ] && [ "$from" != "$target" ]; then cp -al -- "$from" "$target"; fi
mkdir -p "$target/tree"
head -c "$removals" | (cd "$target/tree" && xargs -0 -r rm -rf --)
tar -x -p $unzip --numeric-owner --same-owner --delay-directory-restore -C "$target/tree" -f -
rm -f "$target/nonce"; printf %s "$nonce" > "$target/nonce"`;

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
  const lock = { what: 'sending the project to the engine', waitMs: LOCK_WAIT_MS };
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
    await send(options, { volume, sent, from: '', kept: [], differences, snapshot });
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
    await send(options, {
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

async function findOrMakeVolume(engine: Engine, volume: string, key: string): Promise<string> {
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

interface Sending {
  readonly volume: string;
  readonly sent: Sent;
  readonly from: string;
  readonly kept: readonly string[];
  readonly differences: Differences;
  readonly snapshot: Snapshot;
}

/** Streams removals, then the tar of what is new, into a container that has nothing but the volume. */
async function send(options: VolumeBaseOptions, sending: Sending): Promise<void> {
  const { engine, tell } = options;
  const { volume, sent, differences } = sending;
  const { uid, gid } = parseUser(options.user);
  const removals = removalList(differences);
  const zip = isFar(engine.facts.endpoint);
  const argv = [`g${sent.generation}`, sending.from, String(removals.length), sent.nonce, zip ? '-z' : ''];
  const container = await engine.create(
    taskSpec({
      sessionId: options.sessionId,
      suffix: 'receive',
      image: options.image,
      seccomp: await readSeccompProfile(),
      user: '0:0',
      capabilities: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID'],
      argv: ['/bin/bash', '-c', RECEIVE, 'receive', ...argv, ...sending.kept],
      mounts: [{ kind: 'volume', volume, target: '/base', readonly: false }],
      stdin: 'stream',
    }),
  );
  try {
    let output = '';
    for (const stream of [container.stdout, container.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output = (output + chunk.toString('latin1')).slice(-1000);
      });
    }
    await container.start();
    const { stdin } = container;
    if (stdin === undefined) throw uploadFailed('the container has no input');
    if (removals.length > 0) stdin.write(removals);
    const tar = Readable.from(counted(writeTar(itemsOf(options.generation, sending), { uid, gid }), tell));
    // A container that ended early closes the stream; its status and output say why.
    const streamed = (zip ? pipeline(tar, createGzip({ level: 1 }), stdin) : pipeline(tar, stdin)).then(
      () => undefined,
      (error: Error) => error,
    );
    const status = await container.wait();
    const broken = await streamed;
    if (status !== 0) throw uploadFailed(`${output.trim()} (status ${status})`);
    if (broken instanceof RunClaudeError) throw broken;
  } finally {
    await container.remove();
  }
}

function uploadFailed(why: string): RunClaudeError {
  return new RunClaudeError('VOLUME_UPLOAD_FAILED', `the project could not be sent to the engine: ${why}`, {
    hint: `${/no space left|quota/i.test(why) ? "The engine's disk is full: See what takes it with: docker system df. " : ''}The next start sends the project anew.`,
  });
}

async function* counted(chunks: AsyncIterable<Buffer>, tell: Tell): AsyncGenerator<Buffer> {
  const what = 'Sending the project to the engine';
  let done = 0;
  for await (const chunk of chunks) {
    yield chunk;
    done += chunk.length;
    tell({ kind: 'progress', what, done, unit: 'bytes' });
  }
  tell({ kind: 'progress-end', what });
}

/** Whether the engine is behind a network, where compression is worth its processor time. */
function isFar(endpoint: string): boolean {
  return /^(ssh|tcp|https?):\/\//.test(endpoint) && !/^\w+:\/\/(localhost|127\.|\[::1\])/.test(endpoint);
}

/** Paths that were deleted or will be replaced, each ended by a NUL; not those of directories that stay. */
function removalList(differences: Differences): Buffer {
  const parts: Buffer[] = [];
  for (const { path: one, from, to } of differences) {
    if (from === undefined || (from.kind === 'd' && to?.kind === 'd')) continue;
    parts.push(encodeBytes(`./${one}`), Buffer.of(0));
  }
  return Buffer.concat(parts);
}

/** What is new or differs, and every directory in which something was done, since that changed its time. */
function* itemsOf(generation: string, { differences, snapshot }: Sending): Generator<TarItem> {
  const source = (one: string): string => (one === '' ? `${generation}/tree` : `${generation}/tree/${one}`);
  const firstOfInode = new Map<string, string>();
  const directories = new Set<string>(['']);
  for (const { path: one, to } of differences) {
    // A parent that is new has come already: the differences are sorted so.
    const parent = parentPath(one);
    if (!directories.has(parent) && rowAt(snapshot, parent)?.kind === 'd')
      yield { path: parent, source: source(parent) };
    directories.add(parent);
    if (to === undefined || (to.kind === 'd' && directories.has(one))) continue;
    if (to.kind === 'd') directories.add(one);
    const inode = `${to.dev}:${to.ino}`;
    const link = to.kind === 'f' && to.nlink > 1 ? firstOfInode.get(inode) : undefined;
    if (to.kind === 'f' && to.nlink > 1 && link === undefined) firstOfInode.set(inode, one);
    yield link === undefined ? { path: one, source: source(one) } : { path: one, source: source(one), link };
  }
  yield { path: '', source: source('') };
}
