import type { InsideProgram } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { requireRunning } from '../../engines/capabilities/require-part.ts';
import { agentSpec } from '../../engines/engine/hardening/hardened.ts';
import { readSeccompProfile } from '../../engines/engine/hardening/seccomp.ts';

export interface SessionProgram {
  readonly argv: readonly string[];
  readonly tty: boolean;
  /** Type of the terminal. */
  readonly term?: string | undefined;
}

/**
 * Starts a program in the container of a running session, next to its agent: with the same user, environment, layers and
 * limits, which init proves again for this program. Throws what startInside throws.
 */
export async function startInSession(
  engine: Runtime,
  plan: Plan,
  { argv, tty, term }: SessionProgram,
): Promise<InsideProgram> {
  const { policy } = plan;
  const container = agentSpec({
    sessionId: plan.sessionId,
    image: plan.image,
    seccomp: await readSeccompProfile(),
    runtime: policy.runtime,
    user: plan.user,
    umask: plan.umask,
    argv,
    forwards: [],
    env: plan.env,
    workdir: '/workspace',
    mounts: [],
    network: policy.network === 'open' ? { bridge: '' } : 'none',
    limits: policy,
    tty,
    stdin: 'stream',
    allowGitPush: policy.allowGitPush,
  });
  return requireRunning(engine).startInside({
    container,
    argv,
    tty,
    ...(term === undefined ? {} : { env: { TERM: term } }),
  });
}
