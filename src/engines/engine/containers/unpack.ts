import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { RunClaudeError } from '../../../core/errors.ts';
import type { Archive, ContainerSpec } from '../../../core/types/engine.ts';
import type { Runtime } from '../../../core/types/runtime.ts';

/** What sets owners and modes of files in directories that are closed to others. */
const CAPABILITIES = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID'];

/**
 * Unpacks a tar into a directory of a container that is made for it and never starts: the archive sets owners and modes,
 * whatever the image is. Where the engine refuses that (see engineFailure), tar in a container with the same mounts
 * unpacks it.
 *
 * @param spec the container. Its user and program are not used
 * @param makeTar called once for each attempt
 * @throws {RunClaudeError} the engine's error for its own copy
 */
export async function unpackInto(
  engine: Runtime,
  spec: ContainerSpec,
  directory: string,
  makeTar: () => Archive,
): Promise<void> {
  const container = await engine.create(spec);
  try {
    await engine.putArchive(container.id, directory, makeTar());
    return;
  } catch (error) {
    if (!(error instanceof RunClaudeError) || error.code !== 'ENGINE_REFUSED') throw error;
    if (!(await unpackInside(engine, spec, directory, makeTar))) throw error;
  } finally {
    await container.remove();
  }
}

/** Whether tar unpacked everything. It replaces files that the engine's own copy left. */
async function unpackInside(
  engine: Runtime,
  spec: ContainerSpec,
  directory: string,
  makeTar: () => Archive,
): Promise<boolean> {
  const argv = ['/bin/tar', '--numeric-owner', '--same-owner', '--same-permissions', '-C', directory, '-xf', '-'];
  const parts = { user: '0:0', capabilities: CAPABILITIES, stdin: 'stream' } as const;
  const container = await engine.create({ ...spec, ...parts, name: `${spec.name}-tar`, argv });
  try {
    await container.start();
    const { stdin } = container;
    if (stdin === undefined) return false;
    // A container that ended early closes the stream; its status says whether it read everything.
    const streamed = pipeline(Readable.from(makeTar()), stdin).catch(() => undefined);
    const status = await container.wait();
    await streamed;
    return status === 0;
  } finally {
    await container.remove();
  }
}
