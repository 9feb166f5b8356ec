import { createHash } from 'node:crypto';
import { mkdirSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { announceWait } from '../../core/progress/announce-wait.ts';
import { openProgress } from '../../core/progress/open-progress.ts';
import { withLock } from '../../core/store/lock.ts';
import { readJson, writeJsonAtomic } from '../../core/store/record.ts';
import type { Service } from '../../core/types/policy.ts';
import { openVolume } from '../../engines/engine/place.ts';
import { COMPANION_UID } from '../../network/companion/companion-place.ts';
import { placeEntries, type SetupFile } from '../setup/setup-files.ts';
import { dataVolume, SEED_FILES } from './places.ts';
import { openService, type ServiceRun, serviceFailed } from './run-service.ts';

const SEED_MINUTES = 60;
/** As long as a seed may run, and its service may need to get ready and to end. */
const WAIT_MS = 2 * 60 * 60_000;
/** A database writes its files when it ends. */
const END_MS = 120_000;
/** Of a service that was killed, by its memory limit or its disk limit. */
const KILLED = 128 + 9;
/** A project chooses the content: nobody may find two inputs with the same address. */
const ADDRESS_DIGITS = 32;

/** What a seed is made from. */
export interface SeedInputs {
  readonly service: Service & { readonly seed: string };
  /** The services that it reaches, with theirs, and the files of their seeds: the seed can read their data. */
  readonly reached: readonly { readonly service: Service; readonly files: readonly SetupFile[] }[];
  readonly files: readonly SetupFile[];
  /** The address of the service's image, and those of the services that it reaches. */
  readonly images: readonly string[];
}

/** 32 hex digits that name the inputs, for the user of this cache: an engine may have several. */
export function seedAddress({ service, reached, files, images }: SeedInputs, cacheDir: string): string {
  const digestOf = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');
  const digests = (all: readonly SetupFile[]) =>
    all.map((file) => [file.path, file.isExecutable, digestOf(file.content)]);
  const others = reached.map((one) => [tableOf(one.service), digests(one.files)]);
  const canonical = JSON.stringify([2, cacheDir, tableOf(service), others, images, digests(files)]);
  return digestOf(canonical).slice(0, ADDRESS_DIGITS);
}

/** What decides about the data. */
function tableOf({ name, command, port, env, ready, data, seed, reaches }: Service): readonly unknown[] {
  const variables = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1));
  return [name, command, port, variables, ready ?? null, data, seed ?? null, reaches];
}

/** The directory of the marks of all seeds on this machine. */
export const seedsDir = (cacheDir: string): string => path.join(cacheDir, 'seeds');
/** Written last. Its modification time is that of the last use. */
export const seedMark = (cacheDir: string, address: string): string => path.join(seedsDir(cacheDir), `${address}.json`);
export const seedLock = (cacheDir: string, address: string): string => path.join(seedsDir(cacheDir), `${address}.lock`);
export const seedVolume = (address: string): string => `run-claude-seed-${address}`;
export const seedLabel = (address: string): string => `seed-${address}`;

/**
 * The volume with what the service's seed makes; made now where no session made it from the same inputs. No container of
 * an agent, and no service that an agent can reach, ever mounts it in order to write.
 *
 * @throws {RunClaudeError} SERVICE_FAILED for a seed that fails, with its last lines; nothing of it is kept
 */
export async function seededVolume(inputs: SeedInputs, run: ServiceRun, cacheDir: string): Promise<string> {
  const address = seedAddress(inputs, cacheDir);
  const volume = seedVolume(address);
  const { engine, tell, signal } = run;
  const isMade = async (): Promise<boolean> => {
    const mark = seedMark(cacheDir, address);
    if (readJson(mark, '') === undefined || (await engine.findVolume(volume)) === undefined) return false;
    const now = new Date();
    utimesSync(mark, now, now);
    return true;
  };
  if (await isMade()) return volume;
  mkdirSync(seedsDir(cacheDir), { recursive: true, mode: 0o700 });
  const what = `running the seed of the service ${inputs.service.name} for session ${run.container.sessionId}`;
  const lock = { what, waitMs: WAIT_MS, waiting: announceWait(tell), signal };
  await withLock(seedLock(cacheDir, address), lock, async () => {
    if (await isMade()) return;
    // What a killed command left may be half a seed.
    await engine.removeVolume(volume);
    await makeSeed(inputs, { ...run, parts: { data: volume } }, address);
    writeJsonAtomic(seedMark(cacheDir, address), { version: 1, service: inputs.service.name });
  });
  return volume;
}

async function makeSeed({ service, files }: SeedInputs, run: ServiceRun, address: string): Promise<void> {
  const { engine, tell, container, log } = run;
  const { sessionId, image } = container;
  const { name, seed } = service;
  tell({ kind: 'message', level: 'info', text: `Running the seed of the service ${name}, once...` });
  using _progress = openProgress(tell, `Running the seed of the service ${name}`);
  const owner = { uid: COMPANION_UID, gid: COMPANION_UID };
  const filesVolume = `${dataVolume(sessionId, name)}.files`;
  const readable =
    files.length === 0 ? undefined : await openVolume(engine, { name: filesVolume, dir: '', owner, image, sessionId });
  let isDone = false;
  try {
    await readable?.fill(placeEntries(files));
    const mounts = readable === undefined ? [] : [readable.mount(SEED_FILES, true)];
    const parts = { ...run.parts, mounts, label: seedLabel(address) };
    const running = await openService(service, { ...run, parts });
    try {
      await running.ready;
      const done = await within(running.companion.exec(['/bin/bash', '-ec', seed]), SEED_MINUTES * 60_000, run.signal);
      if (done === undefined)
        throw serviceFailed(`the seed of the service ${name} did not end within ${SEED_MINUTES} minutes`, log, 'seed');
      const { status, stdout, stderr } = done;
      log.write(Buffer.concat([stdout, stderr]));
      if (status !== 0)
        throw serviceFailed(`the seed of the service ${name} failed with status ${status}`, log, 'seed');
      await running.companion.end('SIGTERM');
      const ended = await within(running.companion.ended, END_MS, run.signal);
      if (ended === undefined)
        throw serviceFailed(`the service ${name} did not end within ${END_MS / 1000} s after its seed`, log);
      if (ended === KILLED) throw serviceFailed(`the service ${name} was killed after its seed`, log);
      isDone = true;
    } finally {
      await running.stop();
    }
  } finally {
    await readable?.remove();
    if (!isDone) await engine.removeVolume(run.parts.data);
  }
}

/** What `work` gives; undefined where that takes longer. Throws the signal's reason at once. */
async function within<T>(work: Promise<T>, ms: number, signal: AbortSignal): Promise<T | undefined> {
  // Where nobody waits for it any more.
  work.catch(() => undefined);
  const over = new AbortController();
  try {
    return await Promise.race([work, sleep(ms, undefined, { signal: AbortSignal.any([signal, over.signal]) })]);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    over.abort();
  }
}
