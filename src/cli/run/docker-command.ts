import { shellWord } from '../../core/text/shell-word.ts';
import type { ContainerSpec, Mount } from '../../core/types/engine.ts';
import { containerBody, hostsOf } from '../../engines/engine/body.ts';
import { MASKED } from '../../session/plan/mask-plan.ts';

export interface CommandStyle {
  /** The spec's seccomp profile as a file. */
  readonly seccompFile: string;
  /** Variables whose values are not shown. */
  readonly masked: ReadonlySet<string>;
  /** The label of containers that are made through the engine's API. */
  readonly owner: string;
}

/**
 * The `docker run` command for the container that run-claude requests through the engine's API. MaskedPaths and
 * ReadonlyPaths are missing: `docker run` has no options for them.
 */
export function dockerCommand(spec: ContainerSpec, { seccompFile, masked, owner }: CommandStyle): string {
  const { HostConfig: host = {}, Labels = {}, OpenStdin } = containerBody(spec, owner);
  const pairs = (flag: string, of: Readonly<Record<string, string>> | undefined, between: string): string[][] =>
    Object.entries(of ?? {}).map(([name, value]) => [flag, `${name}${between}${value}`]);
  const flags: string[][] = [
    ['--name', spec.name],
    ['--user', spec.user],
    ['--workdir', spec.workdir],
    ['--hostname', spec.hostname],
    ['--read-only'],
    ['--cap-drop', 'ALL'],
    ...spec.capabilities.map((capability) => ['--cap-add', capability]),
    ['--security-opt', 'no-new-privileges'],
    ...(spec.seccomp === undefined ? [] : [['--security-opt', `seccomp=${seccompFile}`]]),
    ...pairs('--sysctl', host.Sysctls, '='),
    ['--network', host.NetworkMode ?? 'none'],
    ...(host.Dns ?? []).map((server) => ['--dns', server]),
    ...(host.DnsSearch ?? []).map((domain) => ['--dns-search', domain]),
    ...hostsOf(spec.loopbackNames ?? []).map((pair) => ['--add-host', pair]),
    ...(spec.gpus === true ? [['--gpus', 'all']] : []),
    ['--ipc', 'private'],
    ['--cgroupns', 'private'],
    ['--log-driver', 'none'],
    ['--no-healthcheck'],
    ['--memory', `${spec.limits.memoryMb}m`],
    ['--memory-swap', `${spec.limits.memoryMb}m`],
    ...(spec.limits.cpus === 0 ? [] : [['--cpus', String(spec.limits.cpus)]]),
    ['--pids-limit', String(spec.limits.pids)],
    ...(host.Ulimits ?? []).map(({ Name, Hard }) => ['--ulimit', `${Name}=${Hard}`]),
    ['--shm-size', `${spec.limits.shmMb}m`],
    ...(spec.runtime === undefined ? [] : [['--runtime', spec.runtime]]),
    ...(spec.tty ? [['--tty']] : []),
    ...(OpenStdin === true ? [['--interactive']] : []),
    ...spec.mounts.flatMap((mount) => (mount.kind === 'tmpfs' ? [] : [['--mount', mountValue(mount)]])),
    ...pairs('--tmpfs', host.Tmpfs, ':'),
    ...Object.entries(spec.env).map(([name, value]) => ['--env', `${name}=${masked.has(name) ? MASKED : value}`]),
    ...pairs('--label', Labels, '='),
    ['--entrypoint', spec.argv[0] ?? ''],
  ];
  const lines = flags.map((flag) => flag.map((word) => shellWord(word)).join(' '));
  const tail = [spec.image, ...spec.argv.slice(1)].map((word) => shellWord(word)).join(' ');
  return ['docker run --rm', ...lines.map((line) => `  ${line}`), `  ${tail}`].join(' \\\n');
}

function mountValue(mount: Exclude<Mount, { kind: 'tmpfs' }>): string {
  const fields =
    mount.kind === 'bind'
      ? ['type=bind', `source=${mount.source}`, `target=${mount.target}`, 'bind-propagation=rprivate']
      : ['type=volume', `source=${mount.volume}`, `target=${mount.target}`, ...(mount.fill ? [] : ['volume-nocopy'])];
  // The value is one line of CSV.
  return [...fields, ...(mount.readonly ? ['readonly'] : [])]
    .map((field) => (/[",]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field))
    .join(',');
}
