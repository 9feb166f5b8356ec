import { agentSpec } from '../engine/hardened.ts';
import { describePlan } from '../plan/describe-plan.ts';
import { dockerCommand } from '../plan/docker-command.ts';
import type { ContainerSpec, Mount } from '../types/engine.ts';
import type { Plan, Program } from '../types/plan.ts';

/** The whole plan and the `docker` command of the agent's container, as text. Nothing is started or written. */
export function dryRunText(plan: Plan, credential: string): string {
  const masked = new Set(Object.keys(plan.policy.env));
  return [
    ...describePlan(plan, credential),
    '',
    '# The agent’s container, as a docker command (what run-claude itself does through the API):',
    ...volumeLines(plan),
    dockerCommand(planSpec(plan), masked),
    '',
  ].join('\n');
}

function volumeLines(plan: Plan): string[] {
  if (plan.strategy !== 'layers') return [];
  const layer = `${plan.sessionDir}/layer`;
  const options = [
    '--opt type=overlay',
    '--opt device=overlay',
    `--opt o=nosuid,nodev,lowerdir=${plan.baseDir}/gen/N/tree,upperdir=${layer}/upper,workdir=${layer}/work,userxattr`,
  ];
  return [
    '# N: the newest generation of the base, once it is brought up to date',
    `docker volume create ${options.join(' ')} ${workspaceVolume(plan)}`,
  ];
}

function workspaceVolume(plan: Plan): string {
  return `run-claude-${plan.sessionId}-workspace`;
}

function planSpec(plan: Plan): ContainerSpec {
  const { policy } = plan;
  return agentSpec({
    sessionId: plan.sessionId,
    image: plan.image,
    seccomp: '{}',
    runtime: policy.runtime,
    user: plan.user,
    argv: programArgv(plan.program),
    forwards: [],
    env: plan.env,
    workdir: plan.project.startIn === '' ? '/workspace' : `/workspace/${plan.project.startIn}`,
    mounts: planMounts(plan),
    network: policy.network === 'open' ? { bridge: 'bridge' } : 'none',
    limits: policy,
    tty: plan.tty,
    stdin: 'stream',
  });
}

function planMounts(plan: Plan): Mount[] {
  const home: Mount = { kind: 'bind', source: `${plan.sessionDir}/home`, target: '/home/agent', readonly: false };
  const target = '/workspace';
  if (plan.strategy === 'layers' || plan.strategy === 'volume' || plan.strategy === 'overlay') {
    return [{ kind: 'volume', volume: workspaceVolume(plan), target, readonly: false }, home];
  }
  if (plan.strategy === 'copy') {
    return [{ kind: 'bind', source: `${plan.sessionDir}/layer/upper`, target, readonly: false }, home];
  }
  const { root, git } = plan.project;
  const shield: Mount = { kind: 'bind', source: `${root}/.git`, target: '/workspace/.git', readonly: true };
  return [{ kind: 'bind', source: root, target, readonly: false }, ...(git === 'directory' ? [shield] : []), home];
}

/** The words of the program inside. */
export function programArgv(program: Program): readonly string[] {
  if (program.kind === 'exec') return program.argv;
  return program.kind === 'shell' ? ['/bin/bash', ...program.args] : ['claude', ...program.args];
}
