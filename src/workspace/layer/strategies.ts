import type { Plan } from '../../core/types/plan.ts';
import type { StrategyName } from '../../core/types/strategy.ts';
import { claimStrategy } from './claim.ts';
import { copyStrategy } from './copy.ts';
import type { Layer, LayerView, ScratchLayer, ScratchOver, WorkspaceOptions } from './layer.ts';
import { layersStrategy } from './layers.ts';
import type { PlannedWorkspace, WorkspaceStrategy } from './strategy.ts';
import { volumeStrategy } from './volume.ts';
import type { VolumeBase } from './volumes/volume-base.ts';
import { parseWorkspaceRecord, type WorkspaceRecord } from './workspace-record.ts';

/** One row for each strategy. */
const STRATEGY_BEHAVIOUR: Readonly<Record<StrategyName, WorkspaceStrategy>> = {
  layers: layersStrategy,
  copy: copyStrategy,
  volume: volumeStrategy,
  claim: claimStrategy,
};

/** The generation in the engine, for a strategy that stores it there. Throws what sending it throws. */
export async function sendBase(
  options: WorkspaceOptions,
  strategy: StrategyName,
  generation: string,
): Promise<VolumeBase | undefined> {
  return STRATEGY_BEHAVIOUR[strategy].sendBase?.(options, generation);
}

/** The session's layer, by the strategy on record. Throws what that strategy throws. */
export function openLayer(options: WorkspaceOptions, record: WorkspaceRecord): Promise<Layer> {
  return STRATEGY_BEHAVIOUR[record.strategy].open(options, record);
}

/** The same layer for a second collector: nothing is made, mounted or removed. */
export function viewLayer({ plan }: Pick<WorkspaceOptions, 'plan'>, record: WorkspaceRecord): LayerView {
  return STRATEGY_BEHAVIOUR[record.strategy].view(plan, record);
}

/**
 * A writable layer over the session's layer, or over the base alone, discarded when it is closed; read-only where the strategy joins no layers.
 * Precondition: no container mounts the session's layer.
 *
 * @throws {RunClaudeError} WORKSPACE_GONE, RECORD_VERSION, STRATEGY_UNUSABLE
 */
export async function openScratchLayer(
  options: WorkspaceOptions,
  record: unknown,
  over: ScratchOver = 'session',
): Promise<ScratchLayer> {
  const known = parseWorkspaceRecord(record);
  return STRATEGY_BEHAVIOUR[known.strategy].openScratch(options, known, over);
}

/** Volumes of the engine that hold a session's layer while the session is kept. */
export function layerVolumes(strategy: Plan['strategy'], sessionId: string): readonly string[] {
  return strategy === 'bind' ? [] : behaviourOf(strategy).layerVolumes(sessionId);
}

/** What `--dry-run` shows of the workspace of a session in copy mode. */
export function plannedWorkspace(plan: Plan, strategy: StrategyName): PlannedWorkspace {
  return STRATEGY_BEHAVIOUR[strategy].planned(plan);
}

/** Of a plan that an earlier release may have made, with a strategy that no longer exists: its files are removed as all are. */
function behaviourOf(strategy: StrategyName): WorkspaceStrategy {
  return STRATEGY_BEHAVIOUR[strategy] ?? layersStrategy;
}
