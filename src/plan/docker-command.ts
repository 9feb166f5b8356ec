import type { ContainerSpec, Mount } from '../types/engine.ts';
import { shellQuote } from './describe-plan.ts';
import { MASKED } from './mask-plan.ts';

/** The `docker run` that does what a spec says, for people to read; `masked` names variables without their values. */
export function dockerCommand(spec: ContainerSpec, masked: ReadonlySet<string>): string {
  const flags: string[][] = [
    ['--name', spec.name],
    ['--user', spec.user],
    ['--workdir', spec.workdir],
    ['--hostname', spec.hostname],
    ['--read-only'],
    ['--cap-drop', 'ALL'],
    ...spec.capabilities.map((capability) => ['--cap-add', capability]),
    ['--security-opt', 'no-new-privileges'],
    ...(spec.seccomp === undefined ? [] : [['--security-opt', 'seccomp=seccomp/run-claude.json']]),
    ['--network', spec.network === 'none' ? 'none' : spec.network.bridge],
    ['--ipc', 'private'],
    ['--cgroupns', 'private'],
    ['--log-driver', 'none'],
    ['--memory', `${spec.limits.memoryMb}m`],
    ['--memory-swap', `${spec.limits.memoryMb}m`],
    ...(spec.limits.cpus === 0 ? [] : [['--cpus', String(spec.limits.cpus)]]),
    ['--pids-limit', String(spec.limits.pids)],
    ['--ulimit', `nofile=${spec.limits.nofile}`],
    ['--ulimit', 'core=1'],
    ['--shm-size', `${spec.limits.shmMb}m`],
    ...(spec.runtime === undefined ? [] : [['--runtime', spec.runtime]]),
    ...(spec.tty ? [['--tty']] : []),
    ...(spec.stdin === 'stream' ? [['--interactive']] : []),
    ...spec.mounts.map(mountFlag),
    ...Object.entries(spec.env).map(([name, value]) => ['--env', `${name}=${masked.has(name) ? MASKED : value}`]),
    ['--label', `run-claude.session=${spec.sessionId}`],
    ['--entrypoint', spec.argv[0] ?? ''],
  ];
  const lines = flags.map((flag) => flag.map((word) => shellQuote(word)).join(' '));
  const tail = [spec.image, ...spec.argv.slice(1)].map((word) => shellQuote(word)).join(' ');
  return ['docker run --rm', ...lines.map((line) => `  ${line}`), `  ${tail}`].join(' \\\n');
}

function mountFlag(mount: Mount): string[] {
  const readonly = mount.kind !== 'tmpfs' && mount.readonly ? ',readonly' : '';
  if (mount.kind === 'bind') return ['--mount', `type=bind,source=${mount.source},target=${mount.target}${readonly}`];
  if (mount.kind === 'volume') {
    return ['--mount', `type=volume,source=${mount.volume},target=${mount.target}${readonly}`];
  }
  const options = `nosuid,nodev${mount.noexec ? ',noexec' : ''},size=${mount.sizeMb}m,mode=${mount.mode.toString(8)}`;
  return ['--tmpfs', `${mount.target}:${options}`];
}
