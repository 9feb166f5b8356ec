import { lstatSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { type BaseTree, openBaseTree } from '../base/base-tree.ts';
import { selectionRules } from '../base/prescan-project.ts';
import { settleBase } from '../base/settle-base.ts';
import { treesOf } from '../base/stacked.ts';
import { removeGoneLater } from '../base/trash.ts';
import { type RunningCollector, startCollector } from '../collector/container.ts';
import { DISK_RESERVE_BYTES, ENTRIES_MAX, type Written, watchSpace } from '../collector/disk.ts';
import { RunClaudeError } from '../errors.ts';
import type { WorkspaceOptions } from '../layer/layer.ts';
import { layerDir, openLayer, viewLayer, type WorkspaceRecord } from '../layer/open-layer.ts';
import { noteStart } from '../layer/overlay.ts';
import { sendBase } from '../layer/volume-base.ts';
import { type SelectionRules, selectPaths } from '../scan/selection.ts';
import { openContentStore } from '../store/content.ts';
import type { TreeReader } from '../types/collector.ts';
import type { Plan } from '../types/plan.ts';
import { collectChanges } from './collect.ts';
import { type LiveReader, liveReader } from './live.ts';
import { releaseBases, startBase } from './start-base.ts';
import type { Workspace } from './workspace.ts';

/**
 * Brings the base up to date and opens the session's layer over it; tells what was left out. Its collector starts when
 * it is first asked, or by wake().
 * Throws RunClaudeError of prepareBase, the strategy, the engine, COLLECTOR_*.
 */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { plan } = options;
  const strategy = plan.strategy === 'bind' ? 'layers' : plan.strategy;
  const rules = selectionRules(plan.policy);
  if (strategy === 'overlay') {
    refuseSelection(rules);
    const entries = await noteStart(layerDir(plan.sessionDir), plan.project.root);
    return open(options, { version: 1, strategy, generation: '', entries, rules });
  }
  const base = await startBase(options, rules);
  const record: WorkspaceRecord = { version: 1, strategy, generation: base.dir, entries: base.entries, rules };
  if (strategy !== 'volume') return open(options, record);
  const { engine, tell } = options;
  const { sessionId, sessionDir, image, user, baseDir: dir } = plan;
  const volume = await sendBase({ engine, dir, generation: base.dir, user, image, sessionId, sessionDir, tell });
  return open(options, { ...record, volume });
}

/** Straight over the project nothing can be kept out of the agent's sight. */
function refuseSelection({ exclude, mask }: SelectionRules): void {
  if (exclude.length === 0 && mask.length === 0) return;
  throw new RunClaudeError(
    'STRATEGY_UNUSABLE',
    "strategy 'overlay' shows all of the project: nothing can be left out",
    {
      hint: 'Without =overlay, --exclude, --mask and .run-claudeignore hold.',
      status: 2,
    },
  );
}

/** The same layer over the same base generation, from the record. Throws RunClaudeError WORKSPACE_GONE. */
export async function reopenWorkspace(options: WorkspaceOptions, record: unknown): Promise<Workspace> {
  return open(options, checkRecord(record));
}

/** A session's changes as they are now, for someone beside the command that runs it. */
export interface WorkspaceWatch extends LiveReader {
  close(): Promise<void>;
}

/** A reader of its own for a session that runs. Throws RunClaudeError WORKSPACE_GONE, COLLECTOR_*. */
export async function watchWorkspace(options: WorkspaceOptions, record: unknown): Promise<WorkspaceWatch> {
  const view = viewLayer(options, checkRecord(record));
  const { engine, plan } = options;
  const suffix = `watch-${process.pid}`;
  const collector = await startCollector({ engine, sessionId: plan.sessionId, suffix, image: plan.image, ...view });
  return {
    ...liveReader(collector, view, plan.policy.includeIgnored),
    close: () => collector.stop(),
  };
}

function checkRecord(record: unknown): WorkspaceRecord {
  const known = record as Partial<WorkspaceRecord> | undefined;
  if (known?.version !== 1 || known.generation === undefined) {
    throw new RunClaudeError('WORKSPACE_GONE', 'this session has no workspace on record');
  }
  const manifest = path.join(known.generation, 'manifest');
  if (known.generation !== '' && lstatSync(manifest, { throwIfNoEntry: false }) === undefined) {
    throw new RunClaudeError('WORKSPACE_GONE', 'the private copy that this session stood on is gone', {
      hint: 'What was collected from it is in its record: review, apply or discard that.',
    });
  }
  return known as WorkspaceRecord;
}

/** Straight over the project, the list made at the start stands for the base. */
function baseTree(plan: Plan, { strategy, generation }: WorkspaceRecord): BaseTree {
  if (strategy === 'overlay') return openBaseTree(path.join(layerDir(plan.sessionDir), 'start'), [plan.project.root]);
  return openBaseTree(path.join(generation, 'manifest'), treesOf(generation));
}

async function open(options: WorkspaceOptions, record: WorkspaceRecord): Promise<Workspace> {
  const { plan, engine } = options;
  const layer = await openLayer(options, record);
  // Read by nobody: a volume in use is not pruned. On Podman each container has a mount of its own, and an overlay must
  // not be mounted twice.
  const merged = layer.strategy === 'copy' || engine.facts.kind === 'podman' ? undefined : layer.mounts[0];
  let started: Promise<RunningCollector> | undefined;
  const collector = (): Promise<RunningCollector> => {
    started ??= startCollector({
      engine,
      sessionId: plan.sessionId,
      image: plan.image,
      roots: [...layer.roots, ...(merged ? [{ name: 'merged', mount: merged }] : []), ...(options.roots ?? [])],
      places: layer.places,
      nonces: layer.nonces,
    });
    return started;
  };
  const stop = async (): Promise<void> => {
    const running = await started?.catch(() => undefined);
    await running?.stop();
  };
  try {
    await layer.begin?.(await collector());
  } catch (error) {
    await stop();
    await layer.close(true);
    throw error;
  }
  const bytes = plan.diskMb * 1024 ** 2;
  const written = async (): Promise<Written> => {
    const { present } = await layer.delta(await collector());
    return { bytes: present.reduce((sum, one) => sum + (one.allocated ?? one.size), 0), entries: present.length };
  };
  /** What the agent writes outside the workspace, its home, takes the same disk. */
  const writtenElsewhere = async (): Promise<Written> => {
    const reader = await collector();
    let [total, entries] = [0, 0];
    for (const root of options.roots ?? []) {
      for await (const entry of reader.listUpTo(root.name, '', ENTRIES_MAX, true)) {
        total += entry.allocated ?? entry.size;
        entries += 1;
      }
    }
    return { bytes: total, entries };
  };
  const everywhere = async (): Promise<Written> => {
    const [here, elsewhere] = [await written(), await writtenElsewhere()];
    return { bytes: here.bytes + elsewhere.bytes, entries: here.entries + elsewhere.entries };
  };
  return {
    mounts: layer.mounts,
    record,
    reader: readerOf(collector),
    base: baseTree(plan, record),
    async wake() {
      await collector();
      if (record.generation === '') return;
      settleBase(record.generation);
      removeGoneLater(plan.baseDir);
    },
    usage: written,
    watchChanges: async () => liveReader(await collector(), layer, plan.policy.includeIgnored),
    watchDisk: (hooks) =>
      watchSpace(
        { space: async () => (await collector()).space('layer'), written: everywhere },
        { bytes, entries: ENTRIES_MAX, reserveBytes: DISK_RESERVE_BYTES },
        hooks,
      ),
    async collect(match) {
      const reader = await collector();
      return collectChanges({
        tell: options.tell,
        collector: reader,
        delta: await layer.delta(reader),
        store: openContentStore(path.join(plan.sessionDir, 'store')),
        selection: selectPaths(record.rules),
        includeIgnored: plan.policy.includeIgnored,
        baseEntries: record.entries,
        sparseBytes: bytes,
        room: () => freeBytes(plan.sessionDir),
        ...(match === undefined ? {} : { match }),
        ...(layer.moved === undefined ? {} : { moved: await layer.moved() }),
      });
    },
    async close({ keepLayer }) {
      await stop();
      await layer.close(keepLayer);
      if (!keepLayer) releaseBases(plan.baseDir, plan.sessionId);
    },
  };
}

async function freeBytes(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return bavail * bsize;
}

/** Reads through a collector that is started by the first question. */
function readerOf(collector: () => Promise<RunningCollector>): TreeReader {
  return {
    async *list(root, below) {
      yield* (await collector()).list(root, below);
    },
    async *read(root, file) {
      yield* (await collector()).read(root, file);
    },
  };
}
