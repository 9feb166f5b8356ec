import type { Container } from '../../core/types/engine.ts';
import type { ImageRuntime, RunningContainers, Runtime } from '../../core/types/runtime.ts';
import { placeOf } from './columns.ts';
import { refuseRows } from './refuse.ts';
import type { CapabilityName } from './table.ts';

/** The row that refuses what needs a part of a runtime. */
const ROW_OF_PART = { images: 'image-builds', running: 'commands-inside' } as const satisfies Record<
  string,
  CapabilityName
>;

/**
 * The runtime, for what makes an image on it.
 *
 * @throws {RunClaudeError} USAGE where its containers run images that are made elsewhere
 */
export function requireImages(runtime: Runtime): ImageRuntime {
  return { ...runtime, images: partOf(runtime, 'images') };
}

/**
 * What a runtime does with containers that run.
 *
 * @throws {RunClaudeError} USAGE where it starts nothing in a container that another command made
 */
export function requireRunning(runtime: Runtime): RunningContainers {
  return partOf(runtime, 'running');
}

/** Runs programs in a container of an engine: what needs it was refused before on every other runtime. */
export function requireExec({ name, exec }: Pick<Container, 'name' | 'exec'>): NonNullable<Container['exec']> {
  if (exec === undefined) throw new Error(`${name} is not a container of an engine`);
  return exec;
}

function partOf<P extends keyof typeof ROW_OF_PART>(runtime: Runtime, part: P): NonNullable<Runtime[P]> {
  const found: Runtime[P] = runtime[part];
  if (found) return found;
  refuseRows(placeOf(runtime.facts), [ROW_OF_PART[part]]);
  throw new Error(`the table of capabilities supports ${ROW_OF_PART[part]}, and the runtime has no such part`);
}
