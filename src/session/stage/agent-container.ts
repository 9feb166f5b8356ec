import path from 'node:path';
import type { ContainerSpec, Mount } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import { agentSpec } from '../../engines/engine/hardening/hardened.ts';
import { serviceDoors } from '../../environment/services/places.ts';
import { type AgentSide, joinEnv } from '../../network/gateway/agent-side.ts';

/** What the agent's container needs besides its plan. */
export interface AgentContainerParts {
  /** Text of run-claude's profile. */
  readonly seccomp: string;
  readonly argv: readonly string[];
  /** Variables besides those of the plan. */
  readonly env: Readonly<Record<string, string>>;
  /** Workspace, home and other places. The gateway's sockets are added to them. */
  readonly mounts: readonly Mount[];
  readonly gateway: AgentSide;
  /** The container ends with this command, which may be killed. The program has no input. */
  readonly tied?: boolean;
}

/** The specification of a plan's container, for its session and for --dry-run. */
export function agentContainer(
  plan: Plan,
  { seccomp, argv, env, mounts, gateway, tied }: AgentContainerParts,
): ContainerSpec {
  const services = serviceDoors(plan);
  const names = [...gateway.loopbackNames, ...services.names];
  return agentSpec({
    sessionId: plan.sessionId,
    image: plan.image,
    seccomp,
    runtime: plan.policy.runtime,
    user: plan.user,
    umask: plan.umask,
    argv,
    until: gateway.until,
    ...(tied === undefined ? {} : { tied }),
    forwards: [...gateway.forwards, ...services.forwards],
    env: joinEnv({ ...plan.env, ...env }, gateway.env),
    workdir: path.posix.join('/workspace', plan.project.startIn),
    mounts: [...mounts, ...gateway.mounts, ...services.mounts],
    network: gateway.agentNetwork,
    ...(names.length === 0 ? {} : { loopbackNames: names }),
    gpus: plan.policy.gpu,
    limits: plan.policy,
    tty: plan.tty,
    stdin: 'stream',
    allowGitPush: plan.policy.allowGitPush,
  });
}
