import { existsSync, readdirSync, statSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sweepBases } from '../../base/sweep.ts';
import { emptyTrash, hasTrash } from '../../base/trash.ts';
import { cacheLabels, unusedCaches } from '../../caches/sweep.ts';
import { instanceRoot } from '../../claude/instances/instance.ts';
import { dataLabel } from '../../claude/instances/isolated.ts';
import { type InstanceFacts, listInstances, removeInstance } from '../../claude/instances/list.ts';
import { isSameEngine } from '../../engine/same-engine.ts';
import { environmentLabels, unusedEnvironments } from '../../environment/sweep.ts';
import { RunClaudeError } from '../../errors.ts';
import { removeTree } from '../../host/remove-tree.ts';
import { isLeftBehind } from '../../image/left-behind.ts';
import { layerVolumes } from '../../layer/strategies.ts';
import { listBatches } from '../../record/batches.ts';
import { withLayerLock } from '../../record/layer-lock.ts';
import { listSessions, ownerState, readRecord, sessionsDir, type UnreadableSession } from '../../record/session.ts';
import { seedLabels, unusedSeeds } from '../../services/sweep.ts';
import type { Engine, FoundObject } from '../../types/engine.ts';
import type { Problem } from '../../types/entry.ts';
import type { HostFacts } from '../../types/plan.ts';
import type { SessionRecord } from '../../types/session.ts';
import { dropLayer, dropLinks } from '../../workspace/drop-layer.ts';
import { layerRemovalReason } from '../end/layer-retention.ts';
import { needsRecovery } from './recover-project.ts';

const DAY_MS = 86_400_000;
/** How long records, pre-images and unused bases are kept: an undo works for as long. */
const KEPT_MS = 30 * DAY_MS;
/** An engine object that is younger may belong to a session that has no record yet. */
const YOUNG_MS = 60 * 60_000;

/** One thing that gc would remove, or did. */
export interface GcItem {
  readonly kind:
    | 'session'
    | 'batch'
    | 'layer'
    | 'instance'
    | 'base'
    | 'environment'
    | 'seed'
    | 'cache'
    | 'container'
    | 'volume'
    | 'network'
    | 'image';
  readonly name: string;
  /** Name of the engine that it is on, in the configuration; undefined for the default engine and for what is here. */
  readonly engine?: string;
  /** For the user: 'applied 41 days ago', 'its project /x no longer exists'. */
  readonly why: string;
}

export interface GcOptions {
  readonly places: Pick<HostFacts, 'stateDir' | 'cacheDir' | 'dataDir'>;
  /** The default engine; undefined when it does not answer: its objects are left for the next gc. */
  readonly engine: Engine | undefined;
  /** Other engines that answer. */
  readonly others?: readonly Engine[];
  /** Called with an engine of `others` that stopped answering: its objects are left for the next gc. */
  readonly onLost?: (engine: Engine) => void;
  readonly nowMs: number;
  /** Images that the next session may use. */
  readonly currentImages: readonly string[];
}

interface Removal extends GcItem {
  readonly remove: () => Promise<void>;
}

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
  const unknown = [...unreadable.map(({ id }) => id), ...reserved];
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

/** What must not be removed, and all instances. */
interface Known {
  readonly kept: readonly SessionRecord[];
  readonly unreadable: readonly UnreadableSession[];
  /** Ids of sessions without a readable record: nothing of them is removed. */
  readonly unknown: readonly string[];
  readonly instances: readonly InstanceFacts[];
}

/** Whether a session was finished longer ago than it is kept. */
function isOld(session: SessionRecord, nowMs: number): boolean {
  return isFinished(session) && nowMs - Date.parse(session.updated) > KEPT_MS;
}

/** Whether the user decided about a session, or it failed before it held anything, and no command works on it. */
function isFinished(session: SessionRecord): boolean {
  return ownerState(session) === 'ended' && ['applied', 'discarded', 'failed'].includes(session.stage);
}

/** The engines that answer. */
const enginesOf = ({ engine, others = [] }: Pick<GcOptions, 'engine' | 'others'>): readonly Engine[] => [
  ...(engine === undefined ? [] : [engine]),
  ...others,
];

/** The engine of a session, where it answers. A record of an earlier release may have another address of the default one. */
function engineFor({ plan }: SessionRecord, options: GcOptions): Engine | undefined {
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
function reservedRemoval(id: string, { places, nowMs }: GcOptions): Removal[] {
  const dir = join(sessionsDir(places.stateDir), id);
  const madeMs = statSync(dir, { throwIfNoEntry: false })?.mtimeMs ?? nowMs;
  if (nowMs - madeMs < YOUNG_MS) return [];
  return [{ kind: 'session', name: id, why: 'it never started', remove: () => rmdir(dir) }];
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
    withLayerLock(session.plan, 'removing it', async () => {
      const now = readRecord(session.plan.sessionDir);
      // A command may have begun to use it since.
      if (now === undefined || ownerState(now) !== 'ended' || layerRemovalReason(now, nowMs) === undefined) return;
      await dropLayer(session.plan, engine);
    });
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

function unusedInstances({ instances, kept, unreadable }: Known): InstanceFacts[] {
  // A session that cannot be read may be a pending one of any of these projects.
  if (unreadable.length > 0) return [];
  return instances.filter((one) => one.state === 'deleted' && pendingSessions(one, kept).length === 0);
}

/** Ids of the sessions for which the data of a project that no longer exists is kept: those that a user has to finish. */
export function pendingSessions({ root }: Pick<InstanceFacts, 'root'>, sessions: readonly SessionRecord[]): string[] {
  const isOfInstance = ({ project, plan }: SessionRecord): boolean =>
    project === root || instanceRoot(project, plan.project.gitCommonDir) === root;
  return sessions.filter((session) => isOfInstance(session) && !isFinished(session)).map(({ id }) => id);
}

async function allEngineRemovals(options: GcOptions, known: Known): Promise<Removal[]> {
  const { engine, others = [], onLost } = options;
  const own = engine === undefined ? [] : await engineRemovals(engine, options, known);
  const elsewhere = others.map(async (other) => {
    try {
      const removals = await engineRemovals(other, options, known);
      return removals.map((one) => ({ ...one, engine: other.facts.on ?? other.facts.endpoint }));
    } catch (error) {
      if (!(error instanceof RunClaudeError)) throw error;
      onLost?.(other);
      return [];
    }
  });
  return [...own, ...(await Promise.all(elsewhere)).flat()];
}

/** The engine lists this owner's objects only; those of other users of the engine are never listed. */
async function engineRemovals(
  engine: Engine,
  { places, nowMs, currentImages }: GcOptions,
  known: Known,
): Promise<Removal[]> {
  const unused = unusedInstances(known);
  const volumes = known.instances.filter((one) => !unused.includes(one)).map(dataLabel);
  const top = join(places.cacheDir, 'bases');
  const bases = existsSync(top) ? readdirSync(top).map((key) => `base-${key}`) : [];
  const needed = new Set([
    ...known.unknown,
    ...volumes,
    ...bases,
    ...environmentLabels(places.cacheDir),
    ...seedLabels(places.cacheDir),
    ...cacheLabels(places.cacheDir),
  ]);
  const kept = new Map(known.kept.map((session) => [session.id, session]));
  const images = new Set([...currentImages, ...known.kept.flatMap(({ plan }) => [plan.image, plan.ownImage])]);
  const order = ['container', 'volume', 'network', 'image'];
  const all = await engine.list();
  // `explore` runs a container of a session that has ended.
  const busy = new Set(all.filter(({ running }) => running).map(({ labels }) => labels['run-claude.session']));
  const stale = all.filter((found) => {
    if (found.running || nowMs - found.createdMs < YOUNG_MS) return false;
    if (found.kind === 'image')
      return isLeftBehind(found, nowMs) || (!images.has(found.name) && nowMs - found.createdMs > KEPT_MS);
    const id = found.labels['run-claude.session'] ?? '';
    const session = kept.get(id);
    return session === undefined ? !needed.has(id) : !busy.has(id) && isLeftover(session, found);
  });
  stale.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  return stale.map((found) => ({
    kind: found.kind,
    name: found.name,
    why: reasonFor(found, nowMs),
    remove: () => removeFound(engine, found, kept.get(found.labels['run-claude.session'] ?? '')),
  }));
}

/** Whether an object is left from a session that ended while the engine did not answer; a layer's volume is not. */
function isLeftover(session: SessionRecord, { kind, name }: FoundObject): boolean {
  if (ownerState(session) !== 'ended' || needsRecovery(session)) return false;
  return !(kind === 'volume' && layerVolumes(session.plan.strategy, session.id).includes(name));
}

function reasonFor(found: FoundObject, nowMs: number): string {
  const { kind, labels } = found;
  if (isLeftBehind(found, nowMs)) return 'a build left it behind';
  if (kind === 'image') return 'no session uses this version';
  return labels['run-claude.session']?.startsWith('data-') ? 'its project no longer exists' : 'its session is over';
}

async function removeFound(engine: Engine, found: FoundObject, session: SessionRecord | undefined): Promise<void> {
  if (found.kind === 'container') return (await engine.find(found.name))?.remove();
  if (found.kind === 'volume') {
    await engine.removeVolume(found.name);
    return session && dropLinks(session.plan.sessionDir);
  }
  if (found.kind === 'network') return engine.removeNetwork(found.name);
  return engine.removeImage(found.name);
}
