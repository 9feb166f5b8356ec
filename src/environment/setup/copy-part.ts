import { RunClaudeError } from '../../core/errors.ts';
import type { Mount } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { taskSpec } from '../../engines/engine/hardening/hardened.ts';
import { readSeccompProfile } from '../../engines/engine/hardening/seccomp.ts';
import { type EnvironmentPart, partMount } from './place.ts';

/** What is there stays as it is. */
const SCRIPT = 'tar -C /environment -cf - "$@" . | tar -C /target -xpf - --skip-old-files';

/**
 * Copies what the plan's setup made into a place of the session, in a container: the host opens none of these files.
 * Nothing to do for a plan without one. `leftOut`: paths in the part that are not copied, with what is below them.
 *
 * @throws {RunClaudeError} ENVIRONMENT_COPY when it cannot be copied, such as on a full disk.
 */
export async function copyPart(
  engine: Runtime,
  plan: Plan,
  part: EnvironmentPart,
  mountAt: (target: string) => Mount,
  leftOut: readonly string[] = [],
): Promise<void> {
  if (plan.environment === undefined) return;
  const container = await engine.create(
    taskSpec({
      sessionId: plan.sessionId,
      suffix: `${part}-parts`,
      image: plan.ownImage ?? plan.image,
      seccomp: await readSeccompProfile(),
      user: plan.user,
      argv: ['/bin/bash', '-o', 'pipefail', '-c', SCRIPT, 'copy', ...exclusions(leftOut)],
      mounts: [partMount(engine.facts, plan.environment, part, plan, '/environment'), mountAt('/target')],
      stdin: 'none',
    }),
  );
  try {
    let errors = '';
    container.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString('latin1')).slice(-500);
    });
    await container.start();
    const status = await container.wait();
    if (status === 0) return;
    throw new RunClaudeError('ENVIRONMENT_COPY', `what the setup made cannot be copied: ${errors.trim()}`);
  } finally {
    await container.remove();
  }
}

/** Options of GNU tar for these paths alone: no part of one is a pattern, and none matches deeper. */
export function exclusions(paths: readonly string[]): string[] {
  return ['--anchored', '--no-wildcards', ...paths.map((one) => `--exclude=./${one}`)];
}
