import { RunClaudeError } from '../../errors.ts';
import { addressImage } from '../../image/address.ts';
import type { EnsureImageOptions } from '../../image/ensure.ts';
import { withLock } from '../../store/lock.ts';
import type { Engine } from '../../types/engine.ts';
import type { Tell } from '../../types/event.ts';
import type { Plan } from '../../types/plan.ts';
import type { Policy } from '../../types/policy.ts';
import type { SessionDeps } from './deps.ts';

/** How long one build waits for another of the same person. */
const BUILD_WAIT_MS = 60 * 60_000;

/** The image that a session would run on, built or not: nothing is built for it. Throws as addressForeign does. */
export async function sessionImage(
  policy: Pick<Policy, 'image' | 'toolchain'>,
  engine: Engine,
  env: SessionDeps['env'],
): Promise<string> {
  const ours = addressImage(engine, { env, toolchain: policy.toolchain });
  if (policy.image === undefined) return ours;
  const { addressForeign } = await import('../../image/foreign.ts');
  return addressForeign(engine, policy.image, ours);
}

/**
 * The plan's image on the engine, built when it is missing or where `rebuild` asks for it; somebody else's gets our
 * layers over it and is attacked by the probes first. Throws IMAGE_MISSING, IMAGE_REFUSED for a foreign one, and as
 * ensureImage does.
 */
export async function prepareImage(
  plan: Plan,
  deps: Pick<SessionDeps, 'engine' | 'tell' | 'env' | 'host' | 'interruption'>,
  rebuild = false,
): Promise<void> {
  const { engine, tell, env, host } = deps;
  const { signal } = deps.interruption;
  const { image: reference, toolchain, runtime } = plan.policy;
  if ((reference !== undefined || !rebuild) && (await engine.hasImage(plan.image))) return;
  // Loaded where something is built: a start does not wait for it.
  const { ensureImage } = await import('../../image/ensure.ts');
  const ours = await ensureImage(engine, {
    env,
    cacheDir: host.cacheDir,
    toolchain,
    rebuild,
    tell,
    signal,
    exclusive: buildLock(tell, signal),
  });
  if (reference === undefined) return;
  const [{ ensureForeign }, { refuseOpen }] = await Promise.all([
    import('../../image/foreign.ts'),
    import('./probe-layers.ts'),
  ]);
  const { user } = plan;
  const prove = (image: string): Promise<void> => refuseOpen(engine, { image, runtime, user });
  const tag = await ensureForeign(engine, { reference, ours: ours.tag, tell, prove });
  if (tag !== plan.image) {
    throw new RunClaudeError('IMAGE_MISSING', `${reference} is another image than when this session began`);
  }
}

/** Of several builds of one person, one runs at a time; a person who waits is told for whom. */
export function buildLock(tell: Tell, signal: AbortSignal): EnsureImageOptions['exclusive'] {
  const waiting = (who: string): void => tell({ kind: 'message', level: 'info', text: `Waiting for ${who}` });
  const options = { what: 'building the image', waitMs: BUILD_WAIT_MS, signal, waiting };
  return (file, body) => withLock(file, options, body);
}
