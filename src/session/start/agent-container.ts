import path from 'node:path';
import { agentSpec } from '../../engine/hardening/hardened.ts';
import { type AgentSide, joinEnv } from '../../gateway/agent-side.ts';
import type { ContainerSpec, Mount } from '../../types/engine.ts';
import type { Plan } from '../../types/plan.ts';

/** What a plan does not say of the agent's container. */
export interface AgentContainerParts {
  /** Text of our profile. */
  readonly seccomp: string;
  readonly argv: readonly string[];
  /** Beside the plan's. */
  readonly env: Readonly<Record<string, string>>;
  /** Workspace, home and the like; the gateway's sockets come on top. */
  readonly mounts: readonly Mount[];
  readonly gateway: AgentSide;
}

/** The agent's container of a plan: for its session, and for --dry-run. */
export function agentContainer(
  plan: Plan,
  { seccomp, argv, env, mounts, gateway }: AgentContainerParts,
): ContainerSpec {
  return agentSpec({
    sessionId: plan.sessionId,
    image: plan.image,
    seccomp,
    runtime: plan.policy.runtime,
    user: plan.user,
    argv,
    until: gateway.until,
    forwards: gateway.forwards,
    env: joinEnv({ ...plan.env, ...env }, gateway.env),
    workdir: path.posix.join('/workspace', plan.project.startIn),
    mounts: [...mounts, ...gateway.mounts],
    network: gateway.agentNetwork,
    limits: plan.policy,
    tty: plan.tty,
    stdin: 'stream',
    allowGitPush: plan.policy.allowGitPush,
  });
}
