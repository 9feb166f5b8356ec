import type { EngineFacts } from '../../core/types/engine.ts';

/** One kind of engine: a row of the table in docs/engines.md. */
export interface TestedKind {
  readonly name: string;
  /** Which layers hold there. */
  readonly holds: string;
  /** The tests that show it. */
  readonly shown: string;
}

/** A kind of engine, with a sentence for `doctor`. */
export interface EngineKind extends TestedKind {
  readonly summary: string;
}

const SUITE =
  'the whole suite, on Docker 20.10 (cgroup v1, runc 1.1); the hardening suite also on Docker 26.1; sessions also on ' +
  'Docker 28.5 (cgroup v2, runc 1.3): machines `docker28`, `docker28-containerd`, `btrfs`, `casefold` and `share`';
const REMAPPED = '`test/engine/hardening/remapped.test.ts`';
const ENGINES = '`test/engine/hardening/engines.long.test.ts`';
const NOT_RUN = 'not run: `run-claude doctor --probe` shows what holds';

const TEST_HERE = 'run-claude doctor --probe tests them here';
const ALL = 'all layers hold';
const IN_EACH = 'init proves them in each container before its program runs';
const ROOTLESS = `all layers are expected to hold: ${TEST_HERE}; root in the container is your own user`;

/** What a session can run on, by how it runs; the first that matches counts. */
export const ENGINE_KINDS: readonly (EngineKind & { readonly is: (facts: EngineFacts) => boolean })[] = [
  {
    name: 'Jobs of Slurm (`--on slurm:PARTITION`)',
    holds: 'all but those that you do without by name; the only user inside is uid 0, which is you outside',
    shown: 'Slurm 22.05: `test/engine/engines/jobs/slurm.test.ts`; Slurm 24.11: the machine `slurm` below',
    summary: IN_EACH,
    is: (facts) => facts.kind === 'slurm',
  },
  {
    name: 'Pods of Kubernetes (`--on k8s:CONTEXT`)',
    holds: 'all but those that you do without by name',
    shown: 'a stand-in of the API server: `test/engine/engines/cluster/cluster.test.ts` and `own-pods.test.ts`',
    summary: IN_EACH,
    is: (facts) => facts.kind === 'kubernetes',
  },
  {
    name: 'Podman elsewhere (a virtual machine, ssh)',
    holds: 'refused: it takes our seccomp profile only as a file of its own machine',
    shown: 'not run',
    summary: 'no session starts on this engine',
    is: (facts) => facts.kind === 'podman' && !facts.local,
  },
  {
    name: 'Podman, rootless',
    holds:
      'refused where memory and process limits are not delegated to it (always with cgroup v1); else all, and uid 0 inside is you outside',
    shown: `Podman 4.3, cgroup v1, the refusal: ${ENGINES}; Podman 5.8, cgroup v2: the machine \`rootless-podman\` below`,
    summary: ROOTLESS,
    is: (facts) => facts.kind === 'podman' && facts.rootless,
  },
  {
    name: 'Podman, rootful',
    holds: 'all; what its record does not show is seen from inside before the start',
    shown:
      'Podman 4.3 (cgroup v1, crun 1.8 and runc 1.1): `test/engine/hardening/podman.long.test.ts`; Podman 5.8, cgroup v2: ' +
      'the machine `podman` below',
    summary: ALL,
    is: (facts) => facts.kind === 'podman',
  },
  {
    name: 'Docker, rootless',
    holds:
      'refused where memory and process limits are not delegated to it (always with cgroup v1); else all, and uid 0 inside is you outside',
    shown: `Docker 20.10, cgroup v1, the refusal: ${ENGINES}; Docker 28.5, cgroup v2: the machine \`rootless-docker\` below`,
    summary: ROOTLESS,
    is: (facts) => facts.rootless,
  },
  {
    name: 'Docker, rootful, users remapped',
    holds: 'all, and uid 0 inside is nobody outside',
    shown: `Docker 20.10: ${REMAPPED}`,
    summary: `${ALL}; root in the container is a user without rights`,
    is: (facts) => facts.usernsRemap,
  },
  {
    name: 'Docker in a virtual machine or elsewhere (OrbStack, Docker Desktop, ssh)',
    holds: "all, and the kernel is not the host's",
    shown: 'Docker 20.10 on arm64 over tcp, cgroup v2: the machine `arm64` below; OrbStack and Docker Desktop: not run',
    summary: `all layers are expected to hold: ${TEST_HERE}`,
    is: (facts) => !facts.local,
  },
  { name: 'Docker, rootful', holds: 'all', shown: SUITE, summary: ALL, is: () => true },
];

/** Runtimes by their name in the engine. Any other is as unknown as these. */
export const RUNTIMES: Readonly<Record<string, TestedKind>> = {
  runc: { name: 'runc (the default)', holds: 'all', shown: SUITE },
  runsc: {
    name: 'gVisor (runsc)',
    holds:
      'read-only root, no setuid bits, namespaces, network none, environment, git guard; its own kernel answers the calls: seccomp, masks, mount options, nodump and init hold only in part',
    shown: `runsc of 2022-12: ${ENGINES}`,
  },
  kata: { name: 'Kata', holds: 'all inside its own kernel', shown: NOT_RUN },
};

/** The row for that engine. */
export function kindOf(facts: EngineFacts): EngineKind {
  const found = ENGINE_KINDS.find((kind) => kind.is(facts));
  if (found === undefined) throw new Error('the last kind matches every engine');
  const { name, holds, shown, summary } = found;
  return { name, holds, shown, summary };
}
