import { randomBytes } from 'node:crypto';
import { chownSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { removeTreeSync } from '../../core/host/files/remove-tree.ts';
import { parseUser } from '../../core/host/user.ts';
import { makePrivateDir, readWholeJson, writeJsonAtomic } from '../../core/store/record.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { taskSpec } from '../../engines/engine/hardening/hardened.ts';
import { readSeccompProfile } from '../../engines/engine/hardening/seccomp.ts';
import { writeNonce } from '../base/generations/generation.ts';
import { openLayers } from './layers.ts';

export interface TrialOptions {
  readonly engine: Runtime;
  readonly stateDir: string;
  readonly image: string;
  /** 'uid:gid' inside. */
  readonly user: string;
  readonly sessionId: string;
}

export interface Trial {
  readonly works: boolean;
  /** For the user, where it does not work. */
  readonly why: string;
}

/** How long a trial that could not be carried out counts: its cause may have been temporary. */
const FAILED_TRIAL_MS = 3_600_000;

const SCRIPT = `set -e; cd /workspace
[ "$(cat secret)" = content ]; [ "$(ls | tr '\\n' ' ')" = 'dir removed secret ' ]
echo new > made; rm removed; rm -r dir; mkdir dir; echo y > dir/other; [ "$(ls dir)" = other ]; [ ! -e removed ]`;

/**
 * Whether the engine mounts an overlay volume over directories of this machine. A container tries it in the real state
 * directory: read a 0600 file, write, delete, replace a directory, list. Tried once per engine, kernel, user and image.
 */
export async function tryLayers(options: TrialOptions): Promise<Trial> {
  const { stateDir } = options;
  const known = knownTrial(options);
  if (known !== undefined) return known;
  const name = `trial-${randomBytes(4).toString('hex')}`;
  makePrivateDir(path.join(stateDir, name));
  let trial: Trial;
  let untilMs: number | undefined;
  try {
    trial = await runTrial(options, path.join(stateDir, name));
  } catch (error) {
    // What fails here would fail in a session too.
    trial = { works: false, why: `an overlay volume does not work here: ${(error as Error).message}` };
    untilMs = Date.now() + FAILED_TRIAL_MS;
  }
  try {
    removeTreeSync(path.join(stateDir, name));
  } catch {
    // The engine may unmount a moment later: an empty directory of root's stays, and the overlay works all the same.
  }
  writeJsonAtomic(trialFile(stateDir), { version: TRIAL_FORMAT, key: trialKey(options), trial, untilMs });
  return trial;
}

/** The result of an earlier session's trial for the same engine, kernel, user and image; starts nothing. */
export function knownTrial(options: Omit<TrialOptions, 'sessionId'>): Trial | undefined {
  const known = readTrial(trialFile(options.stateDir));
  if (known?.key !== trialKey(options)) return undefined;
  return known.untilMs === undefined || Date.now() < known.untilMs ? known.trial : undefined;
}

/** Undefined where nothing was tried, or where another release or a crash left what cannot be read: it is tried again. */
function readTrial(file: string): KnownTrial | undefined {
  const {
    version = TRIAL_FORMAT,
    key,
    trial,
    untilMs,
  } = (readWholeJson(file) ?? {}) as Readonly<Record<string, unknown>>;
  const { works, why } = (trial ?? {}) as Readonly<Record<string, unknown>>;
  if (version !== TRIAL_FORMAT || typeof key !== 'string') return undefined;
  if (typeof works !== 'boolean' || typeof why !== 'string') return undefined;
  return { key, trial: { works, why }, untilMs: typeof untilMs === 'number' ? untilMs : undefined };
}

/** Of the file; one without a version was written by an earlier release, with the same fields. */
const TRIAL_FORMAT = 1;

interface KnownTrial {
  readonly key: string;
  readonly trial: Trial;
  readonly untilMs: number | undefined;
}

function trialKey({ engine, image, user }: Omit<TrialOptions, 'sessionId'>): string {
  const { endpoint, version, kernel } = engine.facts;
  return [endpoint, version, kernel, image, user].join(' ');
}

function trialFile(stateDir: string): string {
  return path.join(stateDir, 'overlay-trial.json');
}

async function runTrial(options: TrialOptions, dir: string): Promise<Trial> {
  const { engine, sessionId } = options;
  const generation = path.join(dir, 'generation');
  makeTree(path.join(generation, 'tree'), options.user);
  writeNonce(generation);
  const place = { engine, sessionId: `${sessionId}-trial`, image: options.image, dir: path.join(dir, 'layer') };
  const layer = await openLayers(place, generation);
  try {
    const container = await engine.create(
      taskSpec({
        sessionId,
        suffix: 'trial',
        image: options.image,
        seccomp: await readSeccompProfile(),
        user: options.user,
        argv: ['/bin/sh', '-c', SCRIPT],
        mounts: layer.mounts,
        stdin: 'none',
      }),
    );
    try {
      await container.start();
      if ((await container.wait()) !== 0)
        return { works: false, why: 'files look wrong through an overlay volume here' };
    } finally {
      await container.remove();
    }
    const upper = path.join(dir, 'layer', 'upper');
    const whiteout = lstatSync(path.join(upper, 'removed'), { throwIfNoEntry: false });
    const written = readFileSync(path.join(upper, 'made'), 'utf8') === 'new\n';
    if (whiteout?.isCharacterDevice() && written) return { works: true, why: '' };
    return { works: false, why: 'the engine does not write to directories of this machine' };
  } finally {
    await layer.close(false);
  }
}

function makeTree(tree: string, user: string): void {
  const { uid, gid } = parseUser(user);
  mkdirSync(path.join(tree, 'dir'), { recursive: true, mode: 0o700 });
  for (const name of ['secret', 'removed', 'dir/inner'])
    writeFileSync(path.join(tree, name), 'content', { mode: 0o600 });
  if (process.getuid?.() !== 0) return;
  for (const name of ['.', 'dir', 'secret', 'removed', 'dir/inner']) chownSync(path.join(tree, name), uid, gid);
}
