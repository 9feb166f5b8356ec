import { RunClaudeError } from '../../errors.ts';
import { addressImage } from '../../image/address.ts';
import type { EnsureImageOptions } from '../../image/ensure.ts';
import { withLock } from '../../store/lock.ts';
import type { Engine } from '../../types/engine.ts';
import type { Tell } from '../../types/event.ts';
import type { Plan } from '../../types/plan.ts';
import type { Policy } from '../../types/policy.ts';
import type { SessionDeps } from './deps.ts';

/** How long a build waits for another build of the same user. */
const BUILD_WAIT_MS = 60 * 60_000;

/** The tag of the image that a session would run on, whether it is built or not. Throws what addressForeign throws. */
export async function sessionImage(
  policy: Pick<Policy, 'image' | 'toolchain'>,
  engine: Engine,
  env: SessionDeps['env'],
): Promise<string> {
  const ours = addressImage(engine, { env, toolchain: policy.toolchain });
  if (policy.image === undefined) return ours;
  const { addressCustomImage: addressForeign } = await import('../../image/custom-image.ts');
  return addressForeign(engine, policy.image, ours);
}

/**
 * Makes sure that the engine has the plan's image: builds it when it is missing, or where `isRebuild` asks for it. A
 * custom image gets run-claude's layers over it and is attacked by the probes first.
 *
 * @throws {RunClaudeError} IMAGE_MISSING or IMAGE_REFUSED for a custom image; what ensureImage throws.
 */
export async function prepareImage(
  plan: Plan,
  deps: Pick<SessionDeps, 'engine' | 'tell' | 'env' | 'host' | 'interruption'>,
  isRebuild = false,
): Promise<void> {
  const { engine, tell, env, host } = deps;
  const { signal } = deps.interruption;
  const { image: reference, toolchain, runtime } = plan.policy;
  if ((reference !== undefined || !isRebuild) && (await engine.hasImage(plan.image))) return;
  // Loaded only where something is built: a start does not wait for it.
  const { ensureImage } = await import('../../image/ensure.ts');
  const ours = await ensureImage(engine, {
    env,
    cacheDir: host.cacheDir,
    toolchain,
    rebuild: isRebuild,
    tell,
    signal,
    exclusive: buildLock(tell, signal),
  });
  if (reference === undefined) return;
  const [{ ensureCustomImage: ensureForeign }, { refuseOpenImage: refuseOpen }] = await Promise.all([
    import('../../image/custom-image.ts'),
    import('./probe-layers.ts'),
  ]);
  const { user } = plan;
  const prove = (image: string): Promise<void> => refuseOpen(engine, { image, runtime, user });
  const tag = await ensureForeign(engine, { reference, ours: ours.tag, tell, prove });
  if (tag !== plan.image) {
    throw new RunClaudeError('IMAGE_MISSING', `${reference} is no longer the image that this session began with`);
  }
}

/** Of several builds of one user, one runs at a time. Another build names the one that it waits for. */
export function buildLock(tell: Tell, signal: AbortSignal): EnsureImageOptions['exclusive'] {
  const onWait = (who: string): void => tell({ kind: 'message', level: 'info', text: `Waiting for ${who}` });
  const options = { what: 'building the image', waitMs: BUILD_WAIT_MS, signal, waiting: onWait };
  return (file, body) => withLock(file, options, body);
}
