import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { FoundObject } from '../../core/types/engine.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { HELPER_USER, taskSpec } from './hardening/hardened.ts';
import { readSeccompProfile } from './hardening/seccomp.ts';

/**
 * The free space of the disk of the engine's containers and volumes, in MB, as a container of one of run-claude's images
 * sees it. undefined where the engine has no such image: its API does not report free space.
 *
 * @throws {RunClaudeError} the engine's errors: DISK_FULL where not even a container can be made.
 */
export async function freeDiskMb(engine: Runtime, objects: readonly FoundObject[]): Promise<number | undefined> {
  const image = objects.find(({ kind, name }) => kind === 'image' && name.startsWith('run-claude:'))?.name;
  if (image === undefined) return undefined;
  const container = await engine.create(
    taskSpec({
      sessionId: `space-${randomBytes(4).toString('hex')}`,
      image,
      seccomp: await readSeccompProfile(),
      user: HELPER_USER,
      argv: ['/bin/df', '-P', '-k', '/'],
      mounts: [],
      stdin: 'none',
    }),
  );
  try {
    const output = text(container.stdout);
    await container.start();
    await container.wait();
    return availableMb(await output);
  } finally {
    await container.remove();
  }
}

/** The fourth column of the last line of `df -P -k`, in MB; undefined for anything else. */
export function availableMb(output: string): number | undefined {
  const [, , , available = ''] = (output.trimEnd().split('\n').at(-1) ?? '').split(/\s+/);
  return /^\d+$/.test(available) ? Math.floor(Number(available) / 1024) : undefined;
}
