import { RunClaudeError } from '../../core/errors.ts';
import type { RelPath } from '../../core/text/path.ts';
import { selectionRules } from '../base/prescan-project.ts';
import type { Collector } from '../collector/client.ts';
import { startCollector } from '../collector/container.ts';
import type { WorkspaceOptions } from '../layer/layer.ts';
import { openLayer, sendBase, viewLayer } from '../layer/strategies.ts';
import { parseWorkspaceRecord, type WorkspaceRecord } from '../layer/workspace-record.ts';
import { liveReader } from './live.ts';
import { madeRoots, watchedBy } from './made-roots.ts';
import { SessionWorkspace } from './session-workspace.ts';
import { startBase } from './start-base.ts';
import type { LiveReader, Workspace } from './workspace.ts';

/**
 * Brings the base up to date and opens the session's layer over it; reports what was left out of the copy. The collector
 * starts with the first request to it, or with `wake`. Throws what prepareBase, the strategy, the engine and the
 * collector throw.
 */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { strategy, policy } = options.plan;
  if (strategy === 'bind') throw new TypeError('bind mode has no workspace');
  const rules = selectionRules(policy);
  const { dir: generation, entries, missing: leftOut, secrets, decoys } = await startBase(options);
  const masked = secrets.flatMap(({ path, state }) => (state === 'masked' ? [path] : []));
  const volume = await sendBase(options, strategy, generation);
  const record: WorkspaceRecord = { version: 1, strategy, generation, entries, rules, leftOut, masked };
  return open(options, volume === undefined ? record : { ...record, volume }, { files: secrets, decoys });
}

/** The same layer over the same base generation. Throws as parseWorkspaceRecord does. */
export async function reopenWorkspace(options: WorkspaceOptions, record: unknown): Promise<Workspace> {
  return open(options, parseWorkspaceRecord(record));
}

async function open(
  options: WorkspaceOptions,
  record: WorkspaceRecord,
  secrets?: Workspace['secrets'],
): Promise<Workspace> {
  const workspace = new SessionWorkspace(options, await openLayer(options, record), record, secrets);
  await workspace.begin();
  return workspace;
}

/** A running session's changes so far, for a command next to the one that runs the session. */
export interface WorkspaceWatch extends LiveReader {
  /** Bytes of a regular file in the base or the layer, the first `maxBytes`; undefined where there is none or it cannot be read. */
  read(root: 'base' | 'upper', path: RelPath, maxBytes: number): Promise<Buffer | undefined>;
  close(): Promise<void>;
}

const WATCH_SUFFIX = 'watch-';

/** Whether a container of this name is the reader of {@link watchWorkspace}. */
export function isWatchReader(name: string): boolean {
  return new RegExp(`-${WATCH_SUFFIX}\\d+$`).test(name);
}

/** Starts a second collector for a running session. Throws as parseWorkspaceRecord and startCollector do. */
export async function watchWorkspace(options: WorkspaceOptions, record: unknown): Promise<WorkspaceWatch> {
  const view = viewLayer(options, parseWorkspaceRecord(record));
  const { engine, plan } = options;
  const suffix = `${WATCH_SUFFIX}${process.pid}`;
  const roots = [...view.roots, ...madeRoots(engine, plan)];
  const { sessionId, ownImage: image = plan.image } = plan;
  const collector = await startCollector({ engine, sessionId, suffix, image, ...view, roots });
  return {
    ...liveReader(collector, view, watchedBy(plan)),
    read: (root, path, maxBytes) => readBytes(collector, root, path, maxBytes),
    close: () => collector.stop(),
  };
}

async function readBytes(
  collector: Collector,
  root: string,
  path: RelPath,
  maxBytes: number,
): Promise<Buffer | undefined> {
  if ((await collector.stat(root, path))?.kind !== 'file') return undefined;
  const pieces: Buffer[] = [];
  try {
    for await (const piece of collector.readUpTo(root, path, maxBytes)) pieces.push(piece);
  } catch (error) {
    // The session goes on: the file may have been replaced since.
    if (error instanceof RunClaudeError && error.code === 'COLLECTOR_READ') return undefined;
    throw error;
  }
  return Buffer.concat(pieces);
}
