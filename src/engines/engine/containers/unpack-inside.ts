import { pipeline } from 'node:stream/promises';
import { RunClaudeError } from '../../../core/errors.ts';
import type { Archive, Container, ContainerSpec } from '../../../core/types/engine.ts';

/** Of what tar prints, in a message. */
const MAX_ERROR_CHARACTERS = 500;

export interface UnpackRequest {
  /** Of the container whose directory gets the files; undefined where it was not created. */
  readonly spec: ContainerSpec | undefined;
  readonly directory: string;
  readonly tar: Archive;
  readonly create: (spec: ContainerSpec) => Promise<Container>;
  /** For messages: 'the pod'. */
  readonly where: string;
}

/**
 * Unpacks an archive by its own container with the mounts of another: where no engine copies files into containers.
 *
 * @throws {RunClaudeError} PLACE_FAILED with the last words of tar; what `create` throws
 */
export async function unpackInside({ spec, directory, tar, create, where }: UnpackRequest): Promise<void> {
  if (spec === undefined) throw new Error('an archive is put into a container that was created');
  const argv = ['/bin/tar', '--numeric-owner', '--same-owner', '--same-permissions', '-C', directory, '-xf', '-'];
  const capabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID'];
  const parts = { user: '0:0', role: 'task', network: 'none', tty: false, stdin: 'stream' } as const;
  const container = await create({ ...spec, ...parts, name: `${spec.name}-tar`, capabilities, argv });
  let errors = '';
  container.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString('utf8')).slice(-MAX_ERROR_CHARACTERS);
  });
  container.stdout.resume();
  try {
    await container.start();
    let cause: unknown;
    // A container that ended says why. Its tar has no end of its own when the archive breaks off.
    const streamed = pipeline(tar, container.stdin as NodeJS.WritableStream).catch(async (error: unknown) => {
      cause = error;
      await container.kill('SIGKILL');
    });
    const status = await container.wait();
    await streamed;
    if (status === 0) return;
    // Text of another machine: one line that acts on no terminal.
    const words = errors.replaceAll(/[^\x20-\x7e]+/g, ' ').trim();
    throw new RunClaudeError('PLACE_FAILED', `the files could not be copied into ${where}: ${words}`, { cause });
  } finally {
    await container.remove();
  }
}
