import { programArgv } from '../../agents/agents.ts';
import { shellWord } from '../../core/text/shell-word.ts';
import type { CredentialSource } from '../../core/types/credential.ts';
import type { ContainerSpec } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import { SECCOMP_FILE } from '../../engines/engine/hardening/seccomp.ts';
import { plannedServices } from '../../environment/services/program.ts';
import { agentSide, gatewayNames } from '../../network/gateway/agent-side.ts';
import { companionMounts, gatewayContainer } from '../../network/gateway/gateway-container.ts';
import { describePlan } from '../../session/plan/describe-plan.ts';
import { planOfFolder } from '../../session/plan/plan-run.ts';
import { agentContainer } from '../../session/stage/agent-container.ts';
import { plannedHomeMount } from '../../session/stage/home.ts';
import { plannedCompanions } from '../../session/stage/mcp-companions.ts';
import { plannedWorkspace } from '../../workspace/layer/strategies.ts';
import { dockerCommand } from './docker-command.ts';
import { placeLines, workspaceMounts } from './places.ts';

export interface DryRun {
  readonly source: CredentialSource | undefined;
  /** The credential's source in words. */
  readonly shown: string;
  readonly env: NodeJS.ProcessEnv;
  /** run-claude's directory for data of agents. */
  readonly dataDir: string;
  /** The label of everything that run-claude makes on the engine. */
  readonly owner: string;
  /** Images of the plan's services, by their names. */
  readonly serviceImages: ReadonlyMap<string, string>;
}

/** In place of the profile's text: the commands name its file. */
const SECCOMP = 'file';

/** The whole plan and the `docker` commands of its session. Starts and writes nothing. */
export function dryRunText(plan: Plan, dry: DryRun): string {
  const style = { seccompFile: SECCOMP_FILE, masked: new Set(Object.keys(plan.policy.env)), owner: dry.owner };
  const gateway = plan.policy.network !== 'none';
  const { network, volume } = gatewayNames(plan.sessionId);
  const { sessionId, ownImage: image = plan.image } = plan;
  const companions = companionMounts(plan);
  const companionLines = plannedCompanions(plan, SECCOMP).flatMap((spec) => [
    '# An MCP server that is a program: its secrets go to its standard input.',
    dockerCommand(spec, style),
    '',
  ]);
  const imageOf = ({ name }: { readonly name: string }): string => dry.serviceImages.get(name) ?? image;
  const serviceLines = plannedServices(plan, SECCOMP, imageOf).flatMap((spec) => [
    '# A service: its volumes are removed with the session.',
    dockerCommand(spec, style),
    '',
  ]);
  const gatewayLines = [
    '# The gateway: its rules and the credential go to its standard input.',
    `docker network create ${network}`,
    `docker volume create ${volume}`,
    dockerCommand(gatewayContainer({ sessionId, image, seccomp: SECCOMP, network, volume, companions }), style),
    '',
  ];
  return [
    ...describePlan(plan, dry.shown),
    ...placeLines(plan, dry.dataDir).map((line, at) => `${(at === 0 ? 'mounts' : '').padEnd(12)}${line}`),
    '',
    '# As docker commands. run-claude asks the engine itself, compares what the engine recorded, and also hides',
    '# parts of /proc and /sys that docker run has no option for (MaskedPaths).',
    '',
    ...companionLines,
    ...serviceLines,
    ...(gateway ? gatewayLines : []),
    '# The agent.',
    ...[plan, ...(plan.also ?? []).map((folder) => planOfFolder(plan, folder))].flatMap(volumeLines),
    dockerCommand(plannedAgent(plan, dry, SECCOMP), style),
    '',
  ].join('\n');
}

function volumeLines(plan: Plan): string[] {
  if (plan.strategy === 'bind') return [];
  const { mount, volume } = plannedWorkspace(plan, plan.strategy);
  if (mount.kind !== 'volume' || volume === undefined) return [];
  const options = Object.entries(volume.options ?? {}).map(([name, value]) => `--opt ${shellWord(`${name}=${value}`)}`);
  return [`# ${volume.remark}`, `docker volume create ${options.join(' ')} ${mount.volume}`];
}

/** The agent's container as far as a plan knows it. `seccomp`: text of the profile. */
export function plannedAgent(
  plan: Plan,
  { source, env }: Pick<DryRun, 'source' | 'env'>,
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
