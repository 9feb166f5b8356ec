import { existsSync, readdirSync, statSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { listInstances, removeInstance } from '../../../agents/claude/instances/list.ts';
import { removeTree } from '../../../core/host/files/remove-tree.ts';
import type { Problem } from '../../../core/types/entry.ts';
import type { Runtime } from '../../../core/types/runtime.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { isSameEngine } from '../../../engines/engine/same-engine.ts';
import { unusedCaches } from '../../../environment/caches/sweep.ts';
import { unusedSeeds } from '../../../environment/services/sweep.ts';
import { unusedEnvironments } from '../../../environment/setup/sweep.ts';
import { sweepBases } from '../../../workspace/base/generations/sweep.ts';
import { emptyTrash, hasTrash } from '../../../workspace/base/generations/trash.ts';
import { layerVolumes } from '../../../workspace/layer/strategies.ts';
import { dropLayer } from '../../../workspace/view/drop-layer.ts';
import { layerRemovalReason } from '../../end/layer-retention.ts';
import { listBatches } from '../../record/find/batches.ts';
import { withLayerLock } from '../../record/layer-lock.ts';
import { listSessions, ownerState, readRecord, sessionsDir } from '../../record/session.ts';
import { allEngineRemovals } from './gc-engines.ts';
import {
  DAY_MS,
  type GcItem,
  type GcOptions,
  isFinished,
  KEPT_MS,
  type Known,
  type Removal,
  unusedInstances,
  YOUNG_MS,
} from './gc-known.ts';

/**
 * Lists what no session needs any more, and removes nothing:
 *
 * - sessions that were decided about 30 days ago, with their pre-images
 * - records of batches whose last task ended 30 days ago
 * - layers that hold nothing more, or whose session was applied 14 days ago
 * - what setups made, where no session uses it and no start used it for 30 days
 * - data that seeds of services made, where no start used it for 30 days
 * - caches of packages that no session uses and no start used for 30 days
 * - bases that were not used for 30 days, or that cannot be used as they are
 * - Claude's data of projects that no longer exist and have no pending session
 * - engine objects of this owner without a session
 *
 * A pending session, or one whose command may still run, is never listed.
 */
export async function planGc(options: GcOptions): Promise<GcItem[]> {
  return (await removals(options)).map(({ remove: _, ...item }) => item);
}

/** Removes what {@link planGc} lists. What cannot be removed becomes a problem, and the rest is still removed. */
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
  const { sessions, unreadable, reserved } = listSessions(options.places.stateDir);
  const old = sessions.filter((session) => isOld(session, options.nowMs));
  const kept = sessions.filter((session) => !old.includes(session));
  // What an old reservation has on an engine is left from a start that was killed: it is removed before its directory.
  const young = reserved.filter((id) => isYoungReservation(id, options));
  const unknown = [...unreadable.map(({ id }) => id), ...young];
  const known = { kept, unreadable, unknown, instances: await listInstances(options.places.dataDir) };
  return [
    ...(await allEngineRemovals(options, known)),
    ...old.map((session) => sessionRemoval(session, options)),
    ...reserved.flatMap((id) => reservedRemoval(id, options)),
    ...batchRemovals(options),
    ...kept.flatMap((session) => layerRemoval(session, options)),
    ...(await baseRemovals(options)),
    ...environmentRemovals(options, known),
    ...seedRemovals(options),
    ...cacheRemovals(options, known),
    ...unusedInstances(known).map((one) => ({
      kind: 'instance' as const,
      name: one.dir,
      why: `its project ${one.root} no longer exists`,
      remove: () => removeInstance(one),
    })),
  ];
}

/** Whether a session was finished longer ago than it is kept. */
function isOld(session: SessionRecord, nowMs: number): boolean {
  return isFinished(session) && nowMs - Date.parse(session.updated) > KEPT_MS;
}

/** The engines that answer. */
const enginesOf = ({ engine, others = [] }: Pick<GcOptions, 'engine' | 'others'>): readonly Runtime[] => [
  ...(engine === undefined ? [] : [engine]),
  ...others,
];

/** The engine of a session, where it answers. A record of an earlier release may have another address of the default one. */
function engineFor({ plan }: SessionRecord, options: GcOptions): Runtime | undefined {
  const { on, id } = plan.engine;
  const found = enginesOf(options).find(({ facts }) => isSameEngine(plan.engine, facts));
  return found ?? (on === undefined && id === undefined ? options.engine : undefined);
}

function sessionRemoval(session: SessionRecord, options: GcOptions): Removal {
  const { places, nowMs } = options;
  const days = Math.floor((nowMs - Date.parse(session.updated)) / DAY_MS);
  return {
    kind: 'session',
    name: session.id,
    why: `${session.stage} ${days} days ago`,
    remove: async () => {
      await dropLayer(session.plan, engineFor(session, options));
      await removeTree(join(sessionsDir(places.stateDir), session.id));
    },
  };
}

/** The directory of a start that was killed before it wrote its record. rmdir fails if a start wrote to it since. */
function reservedRemoval(id: string, options: GcOptions): Removal[] {
  if (isYoungReservation(id, options)) return [];
  const dir = join(sessionsDir(options.places.stateDir), id);
  return [{ kind: 'session', name: id, why: 'it never started', remove: () => rmdir(dir) }];
}

/** Whether a start may still be under way that has no record yet. */
function isYoungReservation(id: string, { places, nowMs }: GcOptions): boolean {
  const made = statSync(join(sessionsDir(places.stateDir), id), { throwIfNoEntry: false })?.mtimeMs;
  return made === undefined || nowMs - made < YOUNG_MS;
}

/** Each end of a task changes the directory of its batch. */
function batchRemovals({ places, nowMs }: GcOptions): Removal[] {
  return listBatches(places.stateDir).flatMap(({ dir, usedMs }) => {
    if (nowMs - usedMs < KEPT_MS) return [];
    const why = `its last task ended ${Math.floor((nowMs - usedMs) / DAY_MS)} days ago`;
    return [{ kind: 'batch', name: dir, why, remove: () => removeTree(dir) }];
  });
}

function layerRemoval(session: SessionRecord, options: GcOptions): Removal[] {
  const { nowMs } = options;
  const why = ownerState(session) === 'ended' ? layerRemovalReason(session, nowMs) : undefined;
  if (why === undefined) return [];
  const engine = engineFor(session, options);
  // A layer in an engine that does not answer is left to the next gc.
  if (engine === undefined && layerVolumes(session.plan.strategy, session.id).length > 0) return [];
  const remove = () =>
    withLayerLock(
      session.plan,
      'removing it',
      async () => {
        const now = readRecord(session.plan.sessionDir);
        // A command may have begun to use it since.
        if (now === undefined || ownerState(now) !== 'ended' || layerRemovalReason(now, nowMs) === undefined) return;
        await dropLayer(session.plan, engine);
      },
      { withoutRoom: true },
    );
  return [{ kind: 'layer', name: session.id, why, remove }];
}

async function baseRemovals({ places }: GcOptions): Promise<Removal[]> {
  const top = join(places.cacheDir, 'bases');
  const unused = await sweepBases(top, KEPT_MS / DAY_MS, true);
  const removals = unused.map(
    ({ dir, unusedDays, broken }): Removal => ({
      kind: 'base',
      name: dir,
      why: broken ? 'it cannot be used as it is' : `unused for ${Math.floor(unusedDays)} days`,
      remove: async () => {
        await sweepBases(top, KEPT_MS / DAY_MS, false);
      },
    }),
  );
  for (const name of existsSync(top) ? readdirSync(top) : []) {
    const dir = join(top, name);
    if (unused.some((one) => one.dir === dir) || !hasTrash(dir)) continue;
    const why = 'older states of a project, which no session uses';
    removals.push({ kind: 'base', name: join(dir, 'gone'), why, remove: async () => emptyTrash(dir) });
  }
  return removals;
}

function environmentRemovals({ places, nowMs }: GcOptions, { kept, unreadable }: Known): Removal[] {
  // A session that cannot be read may use any of them.
  if (unreadable.length > 0) return [];
  const used = kept.flatMap(({ plan }) => plan.environment ?? []);
  return unusedEnvironments(places.cacheDir, used, nowMs, KEPT_MS).map(({ dir, why, remove }) => ({
    kind: 'environment' as const,
    name: dir,
    why,
    remove,
  }));
}

function seedRemovals({ places, engine, nowMs }: GcOptions): Removal[] {
  // On other engines the volume of a seed that is no longer known is removed with the other objects.
  if (engine === undefined) return [];
  return unusedSeeds(places.cacheDir, engine, nowMs, KEPT_MS).map(({ volume, why, remove }) => ({
    kind: 'seed' as const,
    name: volume,
    why,
    remove,
  }));
}

function cacheRemovals({ places, nowMs }: GcOptions, { kept, unreadable }: Known): Removal[] {
  if (unreadable.length > 0) return [];
  // A session that has ended works without its caches when it is resumed.
  const running = kept.filter((session) => ownerState(session) !== 'ended');
  const used = running.flatMap(({ plan }) => plan.caches ?? []);
  return unusedCaches(places.cacheDir, used, nowMs, KEPT_MS).map((one) => ({
    kind: 'cache' as const,
    ...one,
    name: one.dir,
  }));
}
