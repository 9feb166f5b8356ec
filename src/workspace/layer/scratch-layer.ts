import type { Runtime } from '../../core/types/runtime.ts';
import { removeContainers } from '../../engines/engine/remove-containers.ts';
import { scratchVolumes } from './places.ts';

/** Removes what a killed command left in the engine of a session's scratch layer. Precondition: nothing else runs on the session's layer. */
export async function dropScratchLayer(engine: Runtime, sessionId: string): Promise<void> {
  await removeContainers(engine, sessionId);
  const { merged, own } = scratchVolumes(sessionId);
  await engine.removeVolume(merged);
  await engine.removeVolume(own);
}
