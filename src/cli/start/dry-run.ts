import { programArgv } from '../../agent/agents.ts';
import { plannedGitMounts } from '../../bind/shield-git.ts';
import { SECCOMP_FILE } from '../../engine/hardening/seccomp.ts';
import { agentSide, gatewayNames } from '../../gateway/agent-side.ts';
import { gatewayContainer } from '../../gateway/gateway-container.ts';
import { describePlan, shellQuote } from '../../plan/describe-plan.ts';
import { agentContainer } from '../../session/start/agent-container.ts';
import { plannedHomeMount } from '../../session/start/home.ts';
import type { CredentialSource } from '../../types/credential.ts';
import type { ContainerSpec, Mount } from '../../types/engine.ts';
import type { Plan } from '../../types/plan.ts';
import { dockerCommand } from './docker-command.ts';

export interface DryRun {
  readonly source: CredentialSource | undefined;
  /** The credential's source in words. */
  readonly shown: string;
  readonly env: NodeJS.ProcessEnv;
  /** The label of everything that run-claude makes on the engine. */
  readonly owner: string;
}

/** In place of the profile's text: the commands name its file. */
const SECCOMP = 'file';

/** The whole plan and the `docker` commands of its session. Starts and writes nothing. */
export function dryRunText(plan: Plan, dry: DryRun): string {
  const style = { seccompFile: SECCOMP_FILE, masked: new Set(Object.keys(plan.policy.env)), owner: dry.owner };
  const gateway = plan.policy.network !== 'none';
  const { network, volume } = gatewayNames(plan.sessionId);
  const { sessionId, image } = plan;
  const gatewayLines = [
    '# The gateway: its rules and the credential go to its standard input.',
    `docker network create ${network}`,
    `docker volume create ${volume}`,
    dockerCommand(gatewayContainer({ sessionId, image, seccomp: SECCOMP, network, volume }), style),
    '',
  ];
  return [
    ...describePlan(plan, dry.shown),
    '',
    '# As docker commands. run-claude asks the engine itself, compares what the engine recorded, and also hides',
    '# parts of /proc and /sys that docker run has no option for (MaskedPaths).',
    '',
    ...(gateway ? gatewayLines : []),
    '# The agent.',
    ...volumeLines(plan),
    dockerCommand(agentSpec(plan, dry), style),
    '',
  ].join('\n');
}

function volumeLines(plan: Plan): string[] {
  if (plan.strategy !== 'layers') return [];
  const layer = `${plan.sessionDir}/layer`;
  const places = `lowerdir=${plan.baseDir}/gen/N/tree,upperdir=${layer}/upper,workdir=${layer}/work`;
  const options = ['type=overlay', 'device=overlay', `o=nosuid,nodev,${places},userxattr`];
  return [
    '# N: the newest generation of the base, once it is brought up to date',
    `docker volume create ${options.map((one) => `--opt ${shellQuote(one)}`).join(' ')} ${workspaceVolume(plan)}`,
  ];
}

function workspaceVolume(plan: Plan): string {
  return `run-claude-${plan.sessionId}-workspace`;
}

function agentSpec(plan: Plan, { source, env }: DryRun): ContainerSpec {
  return agentContainer(plan, {
    seccomp: SECCOMP,
    argv: programArgv(plan.program),
    env: {},
    mounts: [...workspaceMounts(plan), plannedHomeMount(plan)],
    gateway: agentSide(plan, source, env),
  });
}

function workspaceMounts(plan: Plan): Mount[] {
  const target = '/workspace';
  if (plan.mode === 'bind')
    return [{ kind: 'bind', source: plan.project.root, target, readonly: false }, ...plannedGitMounts(plan)];
  if (plan.strategy === 'copy')
    return [{ kind: 'bind', source: `${plan.sessionDir}/layer/upper`, target, readonly: false }];
  return [{ kind: 'volume', volume: workspaceVolume(plan), target, readonly: false }];
}
