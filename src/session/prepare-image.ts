import { RunClaudeError } from '../errors.ts';
import { ensureImage } from '../image/ensure.ts';
import { withLock } from '../store/lock.ts';
import type { Plan } from '../types/plan.ts';
import type { SessionDeps } from './deps.ts';

const BUILD_WAIT_MS = 60 * 60_000;

/** The plan's image on the engine, built when it is ours and missing. Throws IMAGE_MISSING for a foreign one. */
export async function prepareImage(
  plan: Plan,
  deps: Pick<SessionDeps, 'engine' | 'tell' | 'env' | 'host'>,
): Promise<void> {
  const { engine, tell, env, host } = deps;
  if (plan.policy.image !== undefined) {
    if (await engine.hasImage(plan.image)) return;
    throw new RunClaudeError('IMAGE_MISSING', `the engine has no image ${plan.image}`, {
      hint: 'Pull or build it first.',
    });
  }
  await ensureImage(engine, {
    env,
    cacheDir: host.cacheDir,
    toolchain: plan.policy.toolchain,
    rebuild: plan.policy.rebuild,
    tell,
    exclusive: (file, body) => withLock(file, { what: 'building the image', waitMs: BUILD_WAIT_MS }, body),
  });
}
