import { RunClaudeError } from '../../core/errors.ts';
import type { RelPath } from '../../core/text/path.ts';
import type { Container, Mount } from '../../core/types/engine.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { removeContainer } from '../../engines/engine/containers/remove-containers.ts';
import { collectorSpec, INSIDE } from '../../engines/engine/hardening/hardened.ts';
import { readSeccompProfile } from '../../engines/engine/hardening/seccomp.ts';
import { type Collector, speakToCollector } from './client.ts';

export interface ReaderRoot {
  /** Name for {@link TreeReader}: 'home'. Short lower-case letters; 'base', 'upper', 'merged', 'layer' are taken. */
  readonly name: string;
  /** Always mounted read-only into the collector, at a target of the collector's own. */
  readonly mount: Mount;
}

export interface CollectorParts {
  readonly engine: Runtime;
  readonly sessionId: string;
  /** Ends the container's name when it is not the session's own. */
  readonly suffix?: string;
  readonly image: string;
  readonly roots: readonly ReaderRoot[];
  /** Root names to paths below the mounts: 'upper' to 'layer/upper'. */
  readonly places: Readonly<Record<string, string>>;
  /** Mount names to what their `nonce` must hold. */
  readonly nonces: Readonly<Record<string, string>>;
}

export interface RunningCollector extends Collector {
  stop(): Promise<void>;
}

const MOUNTS = '/roots';

/**
 * Starts the session's collector and checks that it reads the right mounts.
 *
 * @throws {RunClaudeError} COLLECTOR_LOST with its error output, COLLECTOR_WRONG_MOUNT
 */
export async function startCollector(parts: CollectorParts): Promise<RunningCollector> {
  const own = Object.fromEntries(parts.roots.map((root) => [root.name, root.name]));
  const argv = Object.entries({ ...own, ...parts.places }).map(([name, place]) => `${name}=${MOUNTS}/${place}`);
  const spec = collectorSpec({
    sessionId: parts.sessionId,
    ...(parts.suffix === undefined ? {} : { suffix: parts.suffix }),
    image: parts.image,
    seccomp: await readSeccompProfile(),
    argv: [`${INSIDE}/collector`, ...argv],
    mounts: parts.roots.map((root) => mountAt(root)),
    stdin: 'stream',
  });
  // A command that was killed may have left one.
  await removeContainer(parts.engine, spec.name);
  const container = await parts.engine.create(spec);
  try {
    await container.start();
    const errors = errorOutput(container);
    const { stdin, stdout } = container;
    if (stdin === undefined) throw new RunClaudeError('COLLECTOR_LOST', 'the collector has no input');
    const collector = await speakToCollector({ stdin, stdout }).catch((cause: Error) => {
      throw new RunClaudeError('COLLECTOR_LOST', `${cause.message} ${errors()}`, { cause });
    });
    for (const [root, nonce] of Object.entries(parts.nonces)) await checkNonce(collector, root, nonce);
    return {
      ...collector,
      async stop() {
        collector.close();
        await container.remove();
      },
    };
  } catch (error) {
    await container.remove();
    throw error;
  }
}

function mountAt(root: ReaderRoot): Mount {
  const target = `${MOUNTS}/${root.name}`;
  if (root.mount.kind === 'tmpfs') throw new TypeError('a tmpfs has nothing to read');
  return { ...root.mount, target, readonly: true };
}

/** The end of the container's error output. */
function errorOutput(container: Container): () => string {
  let text = '';
  container.stderr.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString('latin1')).slice(-500);
  });
  return () => text.trim();
}

async function checkNonce(collector: Collector, root: string, nonce: string): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of collector.readUpTo(root, 'nonce' as RelPath, 1000)) chunks.push(chunk);
  if (nonce !== '' && Buffer.concat(chunks).toString('latin1') === nonce) return;
  throw new RunClaudeError('COLLECTOR_WRONG_MOUNT', `the engine mounted something else than the session's ${root}`, {
    hint: 'Is the engine on another machine, or in a VM that does not share this directory? Check with: run-claude doctor',
  });
}
