import type { Mount, VolumeSpec } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Layer, LayerView, ScratchLayer, ScratchOver, WorkspaceOptions } from './layer.ts';
import type { VolumeBase } from './volumes/volume-base.ts';
import type { WorkspaceRecord } from './workspace-record.ts';

/** How one strategy works. Its facts, which the plan reads, are its row in src/core/types/strategy.ts. */
export interface WorkspaceStrategy {
  /** Copies a base generation to where the engine can use it, where the engine does not see this machine's files. */
  sendBase?(options: WorkspaceOptions, generation: string): Promise<VolumeBase>;
  /** Makes the session's layer over the base generation on record, or takes the layer that is there. */
  open(options: WorkspaceOptions, record: WorkspaceRecord): Promise<Layer>;
  /** The same layer for a second collector: nothing is made, mounted or removed. */
  view(plan: Plan, record: WorkspaceRecord): LayerView;
  /** A view for `explore` and `rehearse`. Precondition: no container mounts the session's layer. A strategy without overlays shows the session's files only, which cannot be written. */
  openScratch(options: WorkspaceOptions, record: WorkspaceRecord, over: ScratchOver): Promise<ScratchLayer>;
  /** Volumes of the engine that hold a session's layer while the session is kept. */
  layerVolumes(sessionId: string): readonly string[];
  /** What `--dry-run` shows: the agent's mount, and how its volume would be made. */
  planned(plan: Plan): PlannedWorkspace;
}

export interface PlannedWorkspace {
  readonly mount: Mount;
  /** Not shown where the engine's own paths are not known before it is asked. */
  readonly volume?: Pick<VolumeSpec, 'options'> & { readonly remark: string };
}
