import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { listInstances, removeInstance } from '../claude/instances.ts';
import type { Engine, FoundObject } from '../types/engine.ts';
import type { Problem } from '../types/entry.ts';
import type { HostFacts } from '../types/plan.ts';
import type { SessionRecord } from '../types/session.ts';
import { sweepBases } from '../workspace/sweep.ts';
import { listSessions, ownerState, sessionsDir } from './record.ts';

const DAY_MS = 86_400_000;
/** contract.md: records, pre-images and unused bases. */
const KEPT_MS = 30 * DAY_MS;
/** An object of the engine this young may belong to a session that has no record yet. */
const YOUNG_MS = 60 * 60_000;

/** One thing that gc would remove, or did. */
export interface GcItem {
  readonly kind: 'session' | 'instance' | 'base' | 'container' | 'volume' | 'network' | 'image';
  readonly name: string;
  /** For a person: 'applied 41 days ago', 'its project /x is gone'. */
  readonly why: string;
}

export interface GcOptions {
  readonly places: Pick<HostFacts, 'stateDir' | 'cacheDir' | 'dataDir'>;
  /** Undefined when no engine answers: what lies in it is left for the next time. */
  readonly engine: Engine | undefined;
  readonly nowMs: number;
  /** The image that the next session would use. */
  readonly currentImage?: string;
}

interface Removal extends GcItem {
  readonly remove: () => Promise<void>;
}

/**
 * What no session needs any more: sessions that a person has dealt with 30 days ago (their pre-images with them),
 * bases unused as long, instances whose project is gone, objects of this owner's in the engine without a session.
 * Never a pending session or one whose command line may still run. Nothing is removed.
 */
export async function planGc(options: GcOptions): Promise<GcItem[]> {
  return (await removals(options)).map(({ kind, name, why }) => ({ kind, name, why }));
}

/** Removes what {@link planGc} names; what could not be removed is a problem of its own and stops nothing. */
export async function runGc(options: GcOptions): Promise<{ removed: GcItem[]; problems: Problem[] }> {
  const removed: GcItem[] = [];
  const problems: Problem[] = [];
  for (const { remove, ...item } of await removals(options)) {
    try {
      await remove();
      removed.push(item);
    } catch (error) {
      problems.push({ path: item.name, why: (error as Error).message });
    }
  }
  return { removed, problems };
}

async function removals(options: GcOptions): Promise<Removal[]> {
  const { sessions, damaged } = listSessions(options.places.stateDir);
  const old = sessions.filter((session) => isOld(session, options.nowMs));
  const kept = sessions.filter((session) => !old.includes(session));
  return [
    ...(options.engine === undefined ? [] : await engineRemovals(options.engine, options, kept, damaged)),
    ...old.map((session) => sessionRemoval(session, options)),
    ...(await baseRemovals(options)),
    ...(await instanceRemovals(options, kept)),
  ];
}

/** Dealt with, by a person or because it failed before it held anything, and for longer than it is kept. */
function isOld(session: SessionRecord, nowMs: number): boolean {
  if (ownerState(session) !== 'gone') return false;
  const ageMs = nowMs - Date.parse(session.updated);
  return ['applied', 'discarded'].includes(session.stage) && ageMs > KEPT_MS;
}

function sessionRemoval(session: SessionRecord, { places, nowMs }: GcOptions): Removal {
  const days = Math.floor((nowMs - Date.parse(session.updated)) / DAY_MS);
  return {
    kind: 'session',
    name: session.id,
    why: `${session.stage} ${days} days ago`,
    remove: () => rm(join(sessionsDir(places.stateDir), session.id), { recursive: true }),
  };
}

async function baseRemovals({ places }: GcOptions): Promise<Removal[]> {
  const top = join(places.cacheDir, 'bases');
  const unused = await sweepBases(top, KEPT_MS / DAY_MS, true);
  return unused.map(({ dir, unusedDays }) => ({
    kind: 'base',
    name: dir,
    why: `unused for ${Math.floor(unusedDays)} days`,
    remove: async () => {
      await sweepBases(top, KEPT_MS / DAY_MS, false);
    },
  }));
}

async function instanceRemovals({ places }: GcOptions, kept: readonly SessionRecord[]): Promise<Removal[]> {
  const gone = (await listInstances(places.dataDir)).filter(
    (one) => one.state === 'gone' && !kept.some((session) => session.project === one.root),
  );
  return gone.map((one) => ({
    kind: 'instance',
    name: one.dir,
    why: `its project ${one.root} is gone`,
    remove: () => removeInstance(one),
  }));
}

/** The engine lists this owner's objects only; others that share it are never seen. */
async function engineRemovals(
  engine: Engine,
  { nowMs, currentImage }: GcOptions,
  kept: readonly SessionRecord[],
  damaged: readonly string[],
): Promise<Removal[]> {
  const needed = new Set([...kept.map(({ id }) => id), ...damaged]);
  const images = new Set([currentImage, ...kept.map(({ plan }) => plan.image)]);
  const order = ['container', 'volume', 'network', 'image'];
  const stale = (await engine.list()).filter((found) => {
    if (found.running || nowMs - found.createdMs < YOUNG_MS) return false;
    if (found.kind === 'image') return !images.has(found.name) && nowMs - found.createdMs > KEPT_MS;
    return !needed.has(found.labels['run-claude.session'] ?? '');
  });
  stale.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  return stale.map((found) => ({
    kind: found.kind,
    name: found.name,
    why: found.kind === 'image' ? 'no session uses this version' : 'its session is over',
    remove: () => removeFound(engine, found),
  }));
}

async function removeFound(engine: Engine, found: FoundObject): Promise<void> {
  if (found.kind === 'container') return (await engine.find(found.name))?.remove();
  if (found.kind === 'volume') return engine.removeVolume(found.name);
  if (found.kind === 'network') return engine.removeNetwork(found.name);
  return engine.removeImage(found.name);
}
