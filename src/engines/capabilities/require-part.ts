import { usageError } from '../../core/errors.ts';
import type { Container } from '../../core/types/engine.ts';
import type { ImageRuntime, RunningContainers, Runtime } from '../../core/types/runtime.ts';

/**
 * The runtime, for what makes an image on it.
 *
 * @throws {RunClaudeError} USAGE where its containers run images that are made elsewhere
 */
export function requireImages(runtime: Runtime): ImageRuntime {
  const { images } = runtime;
  if (images === undefined) throw unsupported(runtime, 'making an image');
  return { ...runtime, images };
}

/**
 * What a runtime does with containers that run.
 *
 * @throws {RunClaudeError} USAGE where it starts nothing in a container that another command made
 */
export function requireRunning(runtime: Runtime): RunningContainers {
  if (runtime.running === undefined) throw unsupported(runtime, 'a command in its session');
  return runtime.running;
}

/**
 * Runs programs in a container.
 *
 * @throws {RunClaudeError} USAGE where the container takes none
 */
export function requireExec({ name, exec }: Pick<Container, 'name' | 'exec'>): NonNullable<Container['exec']> {
  if (exec === undefined) throw usageError(`${name} does not support a command in a container`, ON_AN_ENGINE);
  return exec;
}

const ON_AN_ENGINE = 'Run it on an engine: leave --on out.';

function unsupported({ facts }: Runtime, what: string) {
  return usageError(`--on ${facts.endpoint} does not support ${what}`, ON_AN_ENGINE);
}
