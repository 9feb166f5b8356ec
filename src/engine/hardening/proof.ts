import type { ContainerSpec } from '../../types/engine.ts';
import { INSIDE } from './hardened.ts';
import { MASKED_PATHS, READONLY_PATHS, SYSCTLS } from './masked-paths.ts';

// What an engine records of a container is what it was told; what it did is seen inside. The image's init looks, before
// any other program runs there, and says so in the first line of its output, which the engine room takes off the
// stream: nothing of the agent's can have written before it.

const INIT = `${INSIDE}/init`;
const PROVEN = 'proven';

/** Numbers of the kernel's capabilities (linux/capability.h), of those that any container of ours keeps. */
const CAPABILITIES: Readonly<Record<string, bigint>> = {
  CHOWN: 0n,
  DAC_OVERRIDE: 1n,
  DAC_READ_SEARCH: 2n,
  FOWNER: 3n,
  FSETID: 4n,
};

/** Runtimes that run programs on the engine's own kernel; another one's shows its processes something of its own. */
const OWN_KERNEL: readonly (string | undefined)[] = [undefined, 'runc', 'crun'];

/**
 * The same container, with our init as PID 1 told to prove it first. Unchanged for a runtime with a kernel of its own:
 * what holds there is in docs/engines.md, and choosing it is printed.
 */
export function withProof(spec: ContainerSpec): ContainerSpec {
  if (!OWN_KERNEL.includes(spec.runtime)) return spec;
  const [first, ...rest] = spec.argv;
  const words = first === INIT ? rest : ['--', ...spec.argv];
  return { ...spec, argv: [INIT, '--prove', proofOf(spec), ...words] };
}

/** Whether the first line of that container's output is init's. */
export function isProved(spec: Pick<ContainerSpec, 'argv'>): boolean {
  return spec.argv[0] === INIT && spec.argv[1] === '--prove';
}

/** What init said is weaker than asked; undefined when it proved everything. */
export function weakerIn(line: string): string | undefined {
  const said = line.trimEnd();
  return said === PROVEN ? undefined : said;
}

/** One thing a line, as images/init/prove.c reads it. */
function proofOf(spec: ContainerSpec): string {
  const { limits } = spec;
  const memory = limits.memoryMb * 1024 * 1024;
  const capabilities = spec.capabilities.reduce((set, name) => set | (1n << bitOf(name)), 0n);
  return [
    `capabilities ${capabilities.toString(16)}`,
    'no-new-privileges',
    ...(spec.seccomp === undefined ? [] : ['seccomp']),
    'read-only-root',
    'own-namespaces',
    `host-name ${spec.hostname}`,
    ...(spec.network === 'none' ? ['no-network'] : []),
    `process-limit core 1`,
    `process-limit nofile ${limits.nofile}`,
    `group-limit memory ${memory}`,
    `group-limit memory-and-swap ${memory}`,
    'group-limit swap 0',
    `group-limit pids ${limits.pids}`,
    `tmpfs /dev/shm - ${limits.shmMb * 1024}`,
    ...spec.mounts
      .filter((mount) => mount.kind === 'tmpfs')
      .map(({ target, noexec, sizeMb }) => `tmpfs ${target} ${noexec ? 'n' : '-'} ${sizeMb * 1024}`),
    ...Object.entries(SYSCTLS).map(([name, value]) => `kernel-setting ${name} ${value}`),
    ...MASKED_PATHS.map((path) => `masked ${path}`),
    ...READONLY_PATHS.map((path) => `read-only ${path}`),
  ].join('\n');
}

function bitOf(capability: string): bigint {
  const bit = CAPABILITIES[capability];
  if (bit === undefined) throw new Error(`no number for the capability ${capability}`);
  return bit;
}
