import type { ContainerSpec } from '../../../core/types/engine.ts';
import { INSIDE, UMASK_OPTION } from './hardened.ts';
import { MASKED_PATHS, READONLY_PATHS, SYSCTLS } from './masked-paths.ts';

// An engine records what was requested of a container. What it did is visible inside only: the image's init checks it
// before any other program runs, and prints the result as the first line of its output. The engine room removes that line
// from the stream. No program of the agent can have written before it.

const INIT = `${INSIDE}/init`;
/** For kernels that start no program which its user may not read (gVisor). */
const READABLE_INIT = `${INSIDE}/readable/init`;
const PROVEN = 'proven';
const OWN_NAMESPACES = 'own-namespaces';

/** Numbers of the capabilities that a container may keep (linux/capability.h). */
const CAPABILITIES: Readonly<Record<string, bigint>> = {
  CHOWN: 0n,
  DAC_OVERRIDE: 1n,
  DAC_READ_SEARCH: 2n,
  FOWNER: 3n,
  FSETID: 4n,
};

/** Runtimes that run programs on the engine's kernel. The kernel of another runtime shows different values. */
const OWN_KERNEL: readonly (string | undefined)[] = [undefined, 'runc', 'crun'];

/**
 * The same container, whose init proves it first. Not for a runtime with its own kernel: docs/engines.md lists what holds
 * there, and its choice is printed.
 */
export function withProof(spec: ContainerSpec): ContainerSpec {
  const [first, ...rest] = spec.argv;
  if (!OWN_KERNEL.includes(spec.runtime)) return first === INIT ? { ...spec, argv: [READABLE_INIT, ...rest] } : spec;
  const words = first === INIT ? rest : ['--', ...spec.argv];
  return { ...spec, argv: [INIT, '--prove', proofOf(spec), ...words] };
}

/**
 * The words that start a program in a running container, where init proves the layers for it too. `isProved`: not for a
 * runtime with its own kernel, as in withProof.
 */
export function provedInside(
  spec: ContainerSpec,
  argv: readonly string[],
): { readonly argv: readonly string[]; readonly isProved: boolean } {
  const words = [...umaskWords(spec), '--', ...argv];
  if (!OWN_KERNEL.includes(spec.runtime)) return { argv: [READABLE_INIT, ...words], isProved: false };
  const lines = proofOf(spec).split('\n');
  // It is not the first process of its namespace.
  const proof = lines.filter((line) => line !== OWN_NAMESPACES).join('\n');
  return { argv: [INIT, '--prove', proof, ...words], isProved: true };
}

/** The umask of a container's program, as init takes it. */
function umaskWords({ argv }: ContainerSpec): readonly string[] {
  const at = argv.slice(0, argv.indexOf('--')).indexOf(UMASK_OPTION);
  return at < 0 ? [] : argv.slice(at, at + 2);
}

/** Whether the first line of the container's output is init's proof. */
export function isProved(spec: Pick<ContainerSpec, 'argv'>): boolean {
  return spec.argv[0] === INIT && spec.argv[1] === '--prove';
}

/** What init found weaker than requested; undefined when it proved everything. */
export function weakerIn(line: string): string | undefined {
  const result = line.trimEnd();
  return result === PROVEN ? undefined : result;
}

/** One property a line, as images/init/prove.c reads it. */
function proofOf(spec: ContainerSpec): string {
  const { limits } = spec;
  const memory = limits.memoryMb * 1024 * 1024;
  const capabilities = spec.capabilities.reduce((set, name) => set | (1n << bitOf(name)), 0n);
  return [
    `capabilities ${capabilities.toString(16)}`,
    'no-new-privileges',
    ...(spec.seccomp === undefined ? [] : ['seccomp']),
    'read-only-root',
    OWN_NAMESPACES,
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
