import type { Runtime } from '../../../core/types/runtime.ts';

/** Ends and removes the container of that name. No error when there is none. */
export async function removeContainer({ running }: Runtime, name: string): Promise<void> {
  await (await running?.find(name))?.remove();
}

/** Ends and removes every container of a session; its volumes stay. */
export async function removeContainers(runtime: Runtime, sessionId: string): Promise<void> {
  for (const { kind, name } of await runtime.list(sessionId)) {
    if (kind === 'container') await removeContainer(runtime, name);
  }
}
