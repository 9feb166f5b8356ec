import type { Engine } from '../../core/types/engine.ts';

/** Ends and removes every container of a session; its volumes stay. */
export async function removeContainers(engine: Engine, sessionId: string): Promise<void> {
  for (const { kind, name } of await engine.list(sessionId)) {
    if (kind === 'container') await (await engine.find(name))?.remove();
  }
}
