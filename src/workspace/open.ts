import { selectionRules } from '../base/prescan-project.ts';
import { startCollector } from '../collector/container.ts';
import type { WorkspaceOptions } from '../layer/layer.ts';
import { openLayer, sendBase, viewLayer } from '../layer/strategies.ts';
import { parseWorkspaceRecord, type WorkspaceRecord } from '../layer/workspace-record.ts';
import { type LiveReader, liveReader } from './live.ts';
import { SessionWorkspace } from './session-workspace.ts';
import { startBase } from './start-base.ts';
import type { Workspace } from './workspace.ts';

/**
 * Brings the base up to date and opens the session's layer over it; reports what was left out of the copy. The collector
 * starts with the first request to it, or with `wake`. Throws what prepareBase, the strategy, the engine and the
 * collector throw.
 */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { strategy, policy } = options.plan;
  if (strategy === 'bind') throw new TypeError('bind mode has no workspace');
  const rules = selectionRules(policy);
  const { dir: generation, entries } = await startBase(options, rules);
  const volume = await sendBase(options, strategy, generation);
  const record: WorkspaceRecord = { version: 1, strategy, generation, entries, rules };
  return open(options, volume === undefined ? record : { ...record, volume });
}

/** The same layer over the same base generation. Throws as parseWorkspaceRecord does. */
export async function reopenWorkspace(options: WorkspaceOptions, record: unknown): Promise<Workspace> {
  return open(options, parseWorkspaceRecord(record));
}

async function open(options: WorkspaceOptions, record: WorkspaceRecord): Promise<Workspace> {
  const workspace = new SessionWorkspace(options, await openLayer(options, record), record);
  await workspace.begin();
  return workspace;
}

/** A running session's changes so far, for a command beside the one that runs the session. */
export interface WorkspaceWatch extends LiveReader {
  close(): Promise<void>;
}

/** Starts a second collector for a running session. Throws as parseWorkspaceRecord and startCollector do. */
export async function watchWorkspace(options: WorkspaceOptions, record: unknown): Promise<WorkspaceWatch> {
  const view = viewLayer(options, parseWorkspaceRecord(record));
  const { engine, plan } = options;
  const suffix = `watch-${process.pid}`;
  const collector = await startCollector({ engine, sessionId: plan.sessionId, suffix, image: plan.image, ...view });
  return {
    ...liveReader(collector, view, plan.policy.includeIgnored),
    close: () => collector.stop(),
  };
}
