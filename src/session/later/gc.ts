import { execFile } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sweepBases } from '../../base/sweep.ts';
import { isAnythingGone, removeGone } from '../../base/trash.ts';
import { instanceRoot } from '../../claude/instances/instance.ts';
import { dataLabel } from '../../claude/instances/isolated.ts';
import { type InstanceFacts, listInstances, removeInstance } from '../../claude/instances/list.ts';
import { isLeftBehind } from '../../image/left-behind.ts';
import { layerVolume } from '../../layer/volume.ts';
import { withLayerLock } from '../../record/layer-lock.ts';
import { listSessions, ownerState, sessionsDir } from '../../record/session.ts';
import type { Engine, FoundObject } from '../../types/engine.ts';
import type { Problem } from '../../types/entry.ts';
import type { HostFacts } from '../../types/plan.ts';
import type { SessionRecord } from '../../types/session.ts';
import { dropLayer, dropLinks } from '../../workspace/drop-layer.ts';
import { layerIsOver } from '../end/layer-life.ts';
import { needsRecovery } from './recover-earlier.ts';

const DAY_MS = 86_400_000;
/** contract.md: records, pre-images and unused bases. */
const KEPT_MS = 30 * DAY_MS;
/** An object of the engine this young may belong to a session that has no record yet. */
const YOUNG_MS = 60 * 60_000;

/** One thing that gc would remove, or did. */
export interface GcItem {
  readonly kind: 'session' | 'layer' | 'instance' | 'base' | 'container' | 'volume' | 'network' | 'image';
  readonly name: string;
  /** For a person: 'applied 41 days ago', 'its project /x no longer exists'. */
  readonly why: string;
}

export interface GcOptions {
  readonly places: Pick<HostFacts, 'stateDir' | 'cacheDir' | 'dataDir'>;
  /** Undefined when no engine answers: what lies in it is left for the next time. */
  readonly engine: Engine | undefined;
  readonly nowMs: number;
  /** Images that the next session may use. */
  readonly currentImages: readonly string[];
}

interface Removal extends GcItem {
  readonly remove: () => Promise<void>;
}

/**
 * What no session needs any more: sessions that a person has dealt with 30 days ago (their pre-images with them),
 * layers that hold nothing more, or since 14 days,
 * bases unused as long, Claude's data of projects that no longer exist and have no pending session, objects of this
 * owner's in the engine without a session.
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
  const { sessions, damaged, reserved } = listSessions(options.places.stateDir);
  const old = sessions.filter((session) => isOld(session, options.nowMs));
  const kept = sessions.filter((session) => !old.includes(session));
  const known = { kept, damaged: [...damaged, ...reserved], instances: await listInstances(options.places.dataDir) };
  return [
    ...(options.engine === undefined ? [] : await engineRemovals(options.engine, options, known)),
    ...old.map((session) => sessionRemoval(session, options)),
    ...reserved.flatMap((id) => reservedRemoval(id, options)),
    ...kept.flatMap((session) => layerRemoval(session, options)),
    ...(await baseRemovals(options)),
    ...goneInstances(known).map((one) => ({
      kind: 'instance' as const,
      name: one.dir,
      why: `its project ${one.root} no longer exists`,
      remove: () => removeInstance(one),
    })),
  ];
}

/** What is not to be removed, and all instances. */
interface Known {
  readonly kept: readonly SessionRecord[];
  readonly damaged: readonly string[];
  readonly instances: readonly InstanceFacts[];
}

/** Finished for longer than it is kept. */
function isOld(session: SessionRecord, nowMs: number): boolean {
  return isFinished(session) && nowMs - Date.parse(session.updated) > KEPT_MS;
}

/** Decided by a user, or failed before it held anything, and no command works on it. */
function isFinished(session: SessionRecord): boolean {
  return ownerState(session) === 'gone' && ['applied', 'discarded', 'failed'].includes(session.stage);
}

function sessionRemoval(session: SessionRecord, { places, engine, nowMs }: GcOptions): Removal {
  const days = Math.floor((nowMs - Date.parse(session.updated)) / DAY_MS);
  return {
    kind: 'session',
    name: session.id,
    why: `${session.stage} ${days} days ago`,
    remove: async () => {
      await dropLayer(session.plan, engine);
      await removeHostileTree(join(sessionsDir(places.stateDir), session.id));
    },
  };
}

/** A start that was killed before it wrote its record. rmdir fails where a start has got further since. */
function reservedRemoval(id: string, { places, nowMs }: GcOptions): Removal[] {
  const dir = join(sessionsDir(places.stateDir), id);
  const madeMs = statSync(dir, { throwIfNoEntry: false })?.mtimeMs ?? nowMs;
  if (nowMs - madeMs < YOUNG_MS) return [];
  return [{ kind: 'session', name: id, why: 'it never started', remove: () => rmdir(dir) }];
}

function layerRemoval(session: SessionRecord, { engine, nowMs }: GcOptions): Removal[] {
  const why = ownerState(session) === 'gone' ? layerIsOver(session, nowMs) : undefined;
  if (why === undefined) return [];
  const remove = () => withLayerLock(session.plan, 'removing it', () => dropLayer(session.plan, engine));
  return [{ kind: 'layer', name: session.id, why, remove }];
}

/**
 * What an agent may have made: as deep as it liked, closed to its owner. The system's rm walks by descriptors and
 * removes an empty directory without opening it.
 */
async function removeHostileTree(dir: string): Promise<void> {
  const run = promisify(execFile);
  try {
    await run('rm', ['-rf', '--', dir]);
  } catch {
    await run('chmod', ['-R', 'u+rwX', '--', dir]).catch(() => undefined);
    await run('rm', ['-rf', '--', dir]);
  }
}

async function baseRemovals({ places }: GcOptions): Promise<Removal[]> {
  const top = join(places.cacheDir, 'bases');
  const unused = await sweepBases(top, KEPT_MS / DAY_MS, true);
  const removals = unused.map(
    ({ dir, unusedDays }): Removal => ({
      kind: 'base',
      name: dir,
      why: `unused for ${Math.floor(unusedDays)} days`,
      remove: async () => {
        await sweepBases(top, KEPT_MS / DAY_MS, false);
      },
    }),
  );
  for (const name of existsSync(top) ? readdirSync(top) : []) {
    const dir = join(top, name);
    if (unused.some((one) => one.dir === dir) || !isAnythingGone(dir)) continue;
    const why = 'older states of a project, which no session stands on';
    removals.push({ kind: 'base', name: join(dir, 'gone'), why, remove: async () => removeGone(dir) });
  }
  return removals;
}

function goneInstances({ instances, kept }: Known): InstanceFacts[] {
  return instances.filter((one) => one.state === 'deleted' && pendingSessions(one, kept).length === 0);
}

/** Ids of the sessions for which the data of a project that no longer exists is kept: those that a user has to finish. */
export function pendingSessions({ root }: Pick<InstanceFacts, 'root'>, sessions: readonly SessionRecord[]): string[] {
  const isOfInstance = ({ project, plan }: SessionRecord): boolean =>
    project === root || instanceRoot(project, plan.project.gitCommonDir) === root;
  return sessions.filter((session) => isOfInstance(session) && !isFinished(session)).map(({ id }) => id);
}

/** The engine lists this owner's objects only; others that share it are never seen. */
async function engineRemovals(
  engine: Engine,
  { places, nowMs, currentImages }: GcOptions,
  known: Known,
): Promise<Removal[]> {
  const gone = goneInstances(known);
  const volumes = known.instances.filter((one) => !gone.includes(one)).map(dataLabel);
  const top = join(places.cacheDir, 'bases');
  const bases = existsSync(top) ? readdirSync(top).map((key) => `base-${key}`) : [];
  const needed = new Set([...known.damaged, ...volumes, ...bases]);
  const kept = new Map(known.kept.map((session) => [session.id, session]));
  const images = new Set([...currentImages, ...known.kept.map(({ plan }) => plan.image)]);
  const order = ['container', 'volume', 'network', 'image'];
  const all = await engine.list();
  // `explore` runs on a session that has long ended.
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

/** What an engine kept of a session that ended while it did not answer: all but a layer that lies in it. */
function isLeftover(session: SessionRecord, { kind, name }: FoundObject): boolean {
  if (ownerState(session) !== 'gone' || needsRecovery(session)) return false;
  return !(kind === 'volume' && session.plan.strategy === 'volume' && name === layerVolume(session.id));
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
