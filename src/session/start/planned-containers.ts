import path from 'node:path';
import { programArgv } from '../../agents/agents.ts';
import { instanceKey, instanceRoot } from '../../agents/claude/instances/instance.ts';
import type { CredentialSource } from '../../core/types/agent/credential.ts';
import type { ContainerSpec, Mount } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import { plannedServices } from '../../environment/services/program.ts';
import { agentSide, gatewayNames } from '../../network/gateway/agent-side.ts';
import { companionMounts, gatewayContainer } from '../../network/gateway/gateway-container.ts';
import { plannedGitMounts } from '../../workspace/bind/shield-git.ts';
import { mountsOfFolder } from '../../workspace/layer/places.ts';
import { plannedWorkspace } from '../../workspace/layer/strategies.ts';
import { planOfFolder } from '../plan/plan-run.ts';
import { agentContainer } from '../stage/agent-container.ts';
import { plannedHomeMount } from '../stage/home/home.ts';
import { plannedCompanions } from '../stage/servers/mcp-companions.ts';

/** Where the agent's files are: one line for each mount, and the directory of Claude's data of the project. */
export function placeLines(plan: Plan, dataDir: string): readonly string[] {
  const { root, gitCommonDir } = plan.project;
  const mounts = [...workspaceMounts(plan), plannedHomeMount(plan)].map(mountWords);
  const instance = path.join(dataDir, 'projects', instanceKey(instanceRoot(root, gitCommonDir)));
  const data = plan.policy.isolateClaudeData ? 'a volume of the engine' : instance;
  return [...mounts, `Data of the agent for this project (history, memory): ${data}`];
}

function mountWords(mount: Mount): string {
  if (mount.kind === 'tmpfs') return `memory at ${mount.target}`;
  const source = mount.kind === 'bind' ? mount.source : `volume ${mount.volume}`;
  return `${source} at ${mount.target}${mount.readonly ? ' (read-only)' : ''}`;
}

/** What of this machine is mounted for the agent's files. */
function workspaceMounts(plan: Plan): Mount[] {
  const { strategy } = plan;
  if (strategy !== 'bind') {
    const folders = (plan.also ?? []).flatMap((folder) =>
      mountsOfFolder([plannedWorkspace(planOfFolder(plan, folder), strategy).mount], folder),
    );
    return [plannedWorkspace(plan, strategy).mount, ...folders];
  }
  const project: Mount = { kind: 'bind', source: plan.project.root, target: '/workspace', readonly: false };
  return [project, ...plannedGitMounts(plan)];
}

/** The agent's container as far as a plan knows it. `seccomp`: text of the profile. */
export function plannedAgent(
  plan: Plan,
  { source, env }: { readonly source: CredentialSource | undefined; readonly env: NodeJS.ProcessEnv },
  seccomp: string,
): ContainerSpec {
  return agentContainer(plan, {
    seccomp,
    argv: programArgv(plan.program),
    env: {},
    mounts: [...workspaceMounts(plan), plannedHomeMount(plan)],
    gateway: agentSide(plan, source, env),
  });
}

/** The other containers of a plan. */
export interface PlannedServants {
  /** MCP servers that are programs. */
  readonly companions: readonly ContainerSpec[];
  readonly services: readonly ContainerSpec[];
  readonly gateway: ContainerSpec | undefined;
}

/** `serviceImages`: by the names of the plan's services. */
export function plannedServants(
  plan: Plan,
  serviceImages: ReadonlyMap<string, string>,
  seccomp: string,
): PlannedServants {
  const { sessionId, policy, ownImage: image = plan.image } = plan;
  const names = gatewayNames(sessionId);
  return {
    companions: plannedCompanions(plan, seccomp),
    services: plannedServices(plan, seccomp, ({ name }) => serviceImages.get(name) ?? image),
    gateway:
      policy.network === 'none'
        ? undefined
        : gatewayContainer({ sessionId, image, seccomp, ...names, companions: companionMounts(plan) }),
  };
}
