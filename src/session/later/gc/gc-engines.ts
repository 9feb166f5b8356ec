import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { dataLabel } from '../../../agents/claude/instances/isolated.ts';
import { RunClaudeError } from '../../../core/errors.ts';
import type { FoundObject } from '../../../core/types/engine.ts';
import type { Runtime } from '../../../core/types/runtime.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { removeContainer } from '../../../engines/engine/containers/remove-containers.ts';
import { cacheLabels } from '../../../environment/caches/sweep.ts';
import { isStaleImage } from '../../../environment/image/stale-images.ts';
import { seedLabels } from '../../../environment/services/sweep.ts';
import { environmentLabels } from '../../../environment/setup/sweep.ts';
import { layerVolumes } from '../../../workspace/layer/strategies.ts';
import { dropLinks } from '../../../workspace/view/drop-layer.ts';
import { isWatchReader } from '../../../workspace/view/open.ts';
import { isSessionId } from '../../record/find/id.ts';
import { ownerState, sessionsDir } from '../../record/session.ts';
import { needsRecovery } from '../recover-project.ts';
import { type GcOptions, KEPT_MS, type Known, type Removal, unusedInstances, YOUNG_MS } from './gc-known.ts';

/** What no session needs any more on the engines that answer. */
export async function allEngineRemovals(options: GcOptions, known: Known): Promise<Removal[]> {
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
  engine: Runtime,
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
    if (isOrphan(found, places.stateDir) || isLeftWatch(found, nowMs)) return true;
    if (found.running || nowMs - found.createdMs < YOUNG_MS) return false;
    if (found.kind === 'image')
      return isStaleImage(found, nowMs) || (!images.has(found.name) && nowMs - found.createdMs > KEPT_MS);
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

/**
 * Whether a container or network, also one that runs, is of a session whose directory was deleted. A start makes the
 * directory before anything else, so no start is under way. Volumes may hold work: they keep their time.
 */
function isOrphan({ kind, labels }: FoundObject, stateDir: string): boolean {
  const id = labels['run-claude.session'] ?? '';
  return (
    (kind === 'container' || kind === 'network') && isSessionId(id) && !existsSync(join(sessionsDir(stateDir), id))
  );
}

/** Whether it is the reader of a `diff --follow` that was killed: it ends with its command, whatever its session does. */
function isLeftWatch({ kind, name, running, createdMs }: FoundObject, nowMs: number): boolean {
  return kind === 'container' && !running && isWatchReader(name) && nowMs - createdMs > WATCH_START_MS;
}

/** A reader that was made and is not started yet is younger. */
const WATCH_START_MS = 60_000;

/** Whether an object is left from a session that ended while the engine did not answer; a layer's volume is not. */
function isLeftover(session: SessionRecord, { kind, name }: FoundObject): boolean {
  if (ownerState(session) !== 'ended' || needsRecovery(session)) return false;
  return !(kind === 'volume' && layerVolumes(session.plan.strategy, session.id).includes(name));
}

function reasonFor(found: FoundObject, nowMs: number): string {
  const { kind, labels } = found;
  if (isStaleImage(found, nowMs)) return 'a build left it behind';
  if (kind === 'image') return 'no session uses this version';
  if (kind === 'container' && isWatchReader(found.name)) return 'its diff --follow was killed';
  return labels['run-claude.session']?.startsWith('data-') ? 'its project no longer exists' : 'its session is over';
}

async function removeFound(engine: Runtime, found: FoundObject, session: SessionRecord | undefined): Promise<void> {
  if (found.kind === 'container') return removeContainer(engine, found.name);
  if (found.kind === 'volume') {
    await engine.removeVolume(found.name);
    return session && dropLinks(session.plan.sessionDir);
  }
  if (found.kind === 'network') return engine.networks?.remove(found.name);
  return engine.images?.remove(found.name);
}
