import { lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../errors.ts';
import { openContentStore } from '../store/content.ts';
import type { StrategyName } from '../types/policy.ts';
import { prepareBase, releaseBase, settleBase } from './base.ts';
import { collectChanges } from './collect.ts';
import { type RunningCollector, startCollector } from './collector-container.ts';
import { DISK_RESERVE_BYTES, ENTRIES_MAX, watchSpace } from './disk.ts';
import { gitGrafts } from './git-grafts.ts';
import type { Layer } from './layer.ts';
import { liveChanges } from './live.ts';
import type { Owner } from './refresh.ts';
import { type SelectionRules, selectPaths } from './selection.ts';
import { openCopy } from './strategies/copy.ts';
import { openLayers } from './strategies/layers.ts';
import type { Workspace, WorkspaceOptions } from './workspace.ts';

const TARGET = '/workspace';

/** Opaque to all others: what {@link reopenWorkspace} needs. */
interface WorkspaceRecord {
  readonly version: 1;
  readonly strategy: StrategyName;
  readonly generation: string;
  readonly entries: number;
  readonly rules: SelectionRules;
}

/**
 * Brings the base up to date, opens the session's layer over it and starts its collector; tells what was left out.
 * Throws RunClaudeError of prepareBase, the engine, COLLECTOR_*, STRATEGY_NOT_YET.
 */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { plan, tell } = options;
  const { policy, project } = plan;
  const rules: SelectionRules = {
    exclude: policy.exclude,
    include: policy.include,
    mask: policy.mask,
    projectFile: readProjectFile(project.root),
  };
  const base = await prepareBase({
    dir: plan.baseDir,
    project: project.root,
    grafts: gitGrafts(project.root),
    selection: selectPaths(rules),
    owner: ownerInside(plan.user),
    sessionId: plan.sessionId,
    sessionDir: plan.sessionDir,
    verify: policy.verify,
    tell,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  const list = (what: string, paths: readonly string[]): void => {
    const more = paths.length > 8 ? ` and ${paths.length - 8} more` : '';
    if (paths.length > 0)
      tell({ kind: 'message', level: 'info', text: `${what}: ${paths.slice(0, 8).join(', ')}${more}` });
  };
  list(
    'Left out of the copy',
    base.leftOut.map(({ path: one, why }) => `${one} (${why})`),
  );
  list('Excluded or masked', base.withheld);
  if (base.withheld.length > 0 && project.git !== 'none') {
    tell({
      kind: 'message',
      level: 'warning',
      text: "Git's history is copied in full and may still hold what is excluded or masked.",
    });
  }
  list("Not carried into the copy's git configuration", base.dropped);
  const strategy = plan.strategy === 'bind' ? 'layers' : plan.strategy;
  return open(options, { version: 1, strategy, generation: base.dir, entries: base.entries, rules });
}

/** The same layer over the same base generation, from the record. Throws RunClaudeError WORKSPACE_GONE. */
export async function reopenWorkspace(options: WorkspaceOptions, record: unknown): Promise<Workspace> {
  const known = record as Partial<WorkspaceRecord> | undefined;
  if (known?.version !== 1 || known.generation === undefined) {
    throw new RunClaudeError('WORKSPACE_GONE', 'this session has no workspace on record');
  }
  if (lstatSync(path.join(known.generation, 'manifest'), { throwIfNoEntry: false }) === undefined) {
    throw new RunClaudeError('WORKSPACE_GONE', 'the private copy that this session stood on is gone', {
      hint: 'What was collected from it is in its record: review, apply or discard that.',
    });
  }
  return open(options, known as WorkspaceRecord);
}

async function open(options: WorkspaceOptions, record: WorkspaceRecord): Promise<Workspace> {
  const { plan, engine } = options;
  const layer = await openLayer(options, record);
  const merged = layer.strategy === 'layers' ? layer.mounts[0] : undefined;
  let collector: RunningCollector;
  try {
    collector = await startCollector({
      engine,
      sessionId: plan.sessionId,
      image: plan.image,
      roots: [...layer.roots, ...(merged ? [{ name: 'merged', mount: merged }] : []), ...(options.roots ?? [])],
      places: layer.places,
      nonces: layer.nonces,
    });
    await layer.begin(collector);
  } catch (error) {
    await layer.close(true);
    throw error;
  }
  const bytes = plan.diskMb * 1024 ** 2;
  const first = await collector.space('layer');
  return {
    mounts: layer.mounts,
    record,
    reader: collector,
    live: async (limit) => liveChanges(collector, await layer.delta(collector), limit),
    async usage() {
      const now = await collector.space('layer');
      return { bytes: Math.max(0, first.free - now.free), entries: Math.max(0, first.inodesFree - now.inodesFree) };
    },
    watchDisk: (hooks) =>
      watchSpace(
        () => collector.space('layer'),
        { bytes, entries: ENTRIES_MAX, reserveBytes: DISK_RESERVE_BYTES },
        hooks,
      ),
    async collect() {
      return collectChanges({
        collector,
        delta: await layer.delta(collector),
        store: openContentStore(path.join(plan.sessionDir, 'store')),
        selection: selectPaths(record.rules),
        includeIgnored: plan.policy.includeIgnored,
        baseEntries: record.entries,
      });
    },
    async close({ keepLayer }) {
      await collector.stop();
      await layer.close(keepLayer);
      if (!keepLayer) releaseBase(plan.baseDir, plan.sessionId);
      await settleBase(record.generation);
    },
  };
}

function openLayer(options: WorkspaceOptions, record: WorkspaceRecord): Promise<Layer> {
  const { plan, engine, tell, signal } = options;
  const dir = path.join(plan.sessionDir, 'layer');
  const place = { dir, generation: record.generation, target: TARGET };
  if (record.strategy === 'layers') return openLayers({ ...place, engine, sessionId: plan.sessionId });
  if (record.strategy === 'copy') {
    return openCopy({ ...place, owner: ownerInside(plan.user), tell, ...(signal === undefined ? {} : { signal }) });
  }
  throw new RunClaudeError('STRATEGY_NOT_YET', `the strategy ${record.strategy} is not there yet`, {
    hint: 'Use --copy-workspace=layers or =copy.',
    status: 2,
  });
}

/** Files are given to the container's user where we may; elsewhere they are ours, and so is the container's user. */
function ownerInside(user: string): Owner | undefined {
  const [uid, gid] = user.split(':').map(Number);
  if (process.getuid?.() !== 0 || uid === undefined || gid === undefined || uid === 0) return undefined;
  return { uid, gid };
}

/** The project's own exclusions; a link or something large is none. */
function readProjectFile(root: string): string | undefined {
  const file = path.join(root, '.run-claudeignore');
  const stat = lstatSync(file, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size < 1 << 20 ? readFileSync(file, 'utf8') : undefined;
}
