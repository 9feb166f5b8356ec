import { rmSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { openContentStore } from '../../core/store/content.ts';
import type { TreeReader } from '../../core/types/collector.ts';
import type { Mount } from '../../core/types/engine.ts';
import type { Collected } from '../../core/types/entry.ts';
import { flushBase } from '../base/generations/flush-base.ts';
import { emptyTrashLater } from '../base/generations/trash.ts';
import {
  DISK_RESERVE_BYTES,
  type DiskHooks,
  type DiskWatch,
  ENTRIES_MAX,
  type Written,
  watchSpace,
} from '../collector/disk.ts';
import { LazyCollector } from '../collector/lazy-collector.ts';
import type { Space } from '../collector/wire.ts';
import type { Layer, WorkspaceOptions } from '../layer/layer.ts';
import type { WorkspaceRecord } from '../layer/workspace-record.ts';
import { collectChanges } from './collect/collect.ts';
import type { CollectRules } from './collect/collect-options.ts';
import { openFrozenFiles } from './collect/frozen-files.ts';
import { lackingOfRecord } from './lacking.ts';
import { liveReader } from './live.ts';
import { madeRoots, watchedBy } from './made-roots.ts';
import { releaseBases } from './start-base.ts';
import type { LiveReader, Workspace } from './workspace.ts';

/** Strategies whose layer is in the session's directory. */
const ON_THIS_MACHINE: ReadonlySet<string> = new Set(['layers', 'copy']);

/** A layer that is open, with the collector that reads it. */
export class SessionWorkspace implements Workspace {
  readonly mounts: readonly Mount[];
  readonly record: WorkspaceRecord;
  readonly reader: TreeReader;
  readonly secrets: Workspace['secrets'];
  readonly #options: WorkspaceOptions;
  readonly #layer: Layer;
  readonly #collector: LazyCollector;
  readonly #cut = new AbortController();

  constructor(options: WorkspaceOptions, layer: Layer, record: WorkspaceRecord, secrets?: Workspace['secrets']) {
    const { plan, engine, roots = [] } = options;
    // The collector reads nothing by these mounts: they keep the engine from pruning the volumes. On Podman, and in a job,
    // each container has its own mount, and an overlay must not be mounted twice.
    const isMountedAnew = engine.facts.kind === 'podman' || engine.facts.mountsAnew === true;
    const pinned = isMountedAnew ? [] : layer.prunable.map((mount) => ({ name: 'merged', mount }));
    this.#options = options;
    this.#layer = layer;
    this.#collector = new LazyCollector({
      engine,
      sessionId: plan.sessionId,
      image: plan.ownImage ?? plan.image,
      roots: [...layer.roots, ...madeRoots(engine, plan), ...pinned, ...roots],
      places: layer.places,
      nonces: layer.nonces,
    });
    this.mounts = layer.mounts;
    this.record = record;
    this.secrets = secrets;
    this.reader = this.#collector.reader;
  }

  /** Reads what has to be known before the agent starts. Where that fails, the engine keeps nothing of the workspace. */
  async begin(): Promise<void> {
    try {
      await this.#layer.begin?.(await this.#collector.get());
    } catch (error) {
      await this.#collector.stop();
      await this.#layer.close(true);
      throw error;
    }
  }

  async wake(): Promise<void> {
    await this.#collector.get();
    flushBase(this.record.generation);
    emptyTrashLater(this.#options.plan.baseDir);
  }

  async usage(): Promise<Written> {
    const { present } = await this.#layer.delta(await this.#collector.get());
    return { bytes: present.reduce((sum, one) => sum + (one.allocated ?? one.size), 0), entries: present.length };
  }

  async watchChanges(): Promise<LiveReader> {
    return liveReader(await this.#collector.get(), this.#layer, watchedBy(this.#options.plan));
  }

  get isOnThisMachine(): boolean {
    return ON_THIS_MACHINE.has(this.record.strategy);
  }

  watchDisk(hooks: DiskHooks, others: readonly Pick<Workspace, 'usage'>[] = []): DiskWatch {
    const source = {
      space: async () => (await this.#localSpace()) ?? (await this.#collector.get()).space('layer'),
      written: async () => {
        const all = await Promise.all([this.#writtenAnywhere(), ...others.map((other) => other.usage())]);
        const sum = (key: keyof Written): number => all.reduce((total, one) => total + one[key], 0);
        return { bytes: sum('bytes'), entries: sum('entries') };
      },
    };
    const limits = { bytes: this.#diskBytes, entries: ENTRIES_MAX, reserveBytes: DISK_RESERVE_BYTES };
    return watchSpace(source, limits, hooks);
  }

  async collect(rules: CollectRules = {}): Promise<Collected> {
    const { plan, tell } = this.#options;
    const collector = await this.#collector.get();
    const store = openContentStore(path.join(plan.sessionDir, 'store'));
    return collectChanges({
      tell,
      signal: this.#cut.signal,
      frozen: openFrozenFiles(this.#progressFile, store),
      collector,
      delta: await this.#layer.delta(collector),
      store,
      lacking: lackingOfRecord(this.record),
      masked: this.record.masked ?? [],
      ...watchedBy(plan),
      baseEntries: this.record.entries,
      sparseBytes: this.#diskBytes,
      room: () => freeBytes(plan.sessionDir),
      ...rules,
    });
  }

  interrupt(reason: Error): void {
    this.#cut.abort(reason);
    this.#collector.interrupt(reason);
  }

  forgetProgress(): void {
    rmSync(this.#progressFile, { force: true });
  }

  async close({ keepLayer }: { readonly keepLayer: boolean }): Promise<void> {
    const { baseDir, sessionId } = this.#options.plan;
    await this.#collector.stop();
    await this.#layer.close(keepLayer);
    if (!keepLayer) releaseBases(baseDir, sessionId);
  }

  get #progressFile(): string {
    return path.join(this.#options.plan.sessionDir, 'frozen-files');
  }

  get #diskBytes(): number {
    return this.#options.plan.diskMb * 1024 ** 2;
  }

  /**
   * Space of the file system of a layer on this machine, without its collector: that starts next to the agent, which can fill
   * a small disk before. Undefined where the engine has the layer.
   */
  async #localSpace(): Promise<Space | undefined> {
    if (!this.isOnThisMachine) return undefined;
    const { bsize, blocks, bavail, bfree, files, ffree } = await statfs(this.#options.plan.sessionDir);
    return { bytes: blocks * bsize, available: bavail * bsize, free: bfree * bsize, inodes: files, inodesFree: ffree };
  }

  /** In the layer, and in the trees besides it that the agent writes to, such as its home: they share the limit. */
  async #writtenAnywhere(): Promise<Written> {
    let { bytes, entries } = await this.usage();
    const collector = await this.#collector.get();
    for (const { name } of this.#options.roots ?? []) {
      for await (const entry of collector.listUpTo(name, '', ENTRIES_MAX, true)) {
        bytes += entry.allocated ?? entry.size;
        entries += 1;
      }
    }
    return { bytes, entries };
  }
}

async function freeBytes(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return bavail * bsize;
}
