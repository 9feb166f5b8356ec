import type { EngineFacts } from '../types/engine.ts';

/** What is known about one kind of engine: a row of the table in docs/engines.md. */
export interface EngineKind {
  readonly name: string;
  /** Which layers hold there. */
  readonly holds: string;
  /** What was run to know it. */
  readonly shown: string;
}

const SUITE = 'the whole suite, on Docker 20.10 (cgroup v1, runc 1.1)';
const NOT_RUN = 'not run: `run-claude doctor --probe` shows what holds';

/** Docker and its relatives by how they run; the first that matches counts. */
export const ENGINE_KINDS: readonly (EngineKind & { readonly is: (facts: EngineFacts) => boolean })[] = [
  {
    name: 'Podman, through its socket',
    holds: 'refused at the first option that its record does not show as asked',
    shown: NOT_RUN,
    is: (facts) => facts.kind === 'podman',
  },
  {
    name: 'Docker, rootless',
    holds: 'all, where memory and process limits are delegated to it; refused where not. uid 0 inside is you outside',
    shown: NOT_RUN,
    is: (facts) => facts.rootless,
  },
  {
    name: 'Docker, rootful, users remapped',
    holds: 'all, and uid 0 inside is nobody outside',
    shown: NOT_RUN,
    is: (facts) => facts.usernsRemap,
  },
  {
    name: 'Docker in a virtual machine or elsewhere (OrbStack, Docker Desktop, ssh)',
    holds: 'all, and the kernel is not the host’s',
    shown: NOT_RUN,
    is: (facts) => !facts.local,
  },
  { name: 'Docker, rootful', holds: 'all', shown: SUITE, is: () => true },
];

/** Runtimes by the name that engines have for them; any other is as unknown as these. */
export const RUNTIMES: Readonly<Record<string, EngineKind>> = {
  runc: { name: 'runc (the default)', holds: 'all', shown: SUITE },
  runsc: {
    name: 'gVisor (runsc)',
    holds: 'its own kernel answers the calls: the seccomp profile is not used, masks and guards are',
    shown: NOT_RUN,
  },
  kata: { name: 'Kata', holds: 'all inside a kernel of its own', shown: NOT_RUN },
};

/** The row for that engine. */
export function kindOf(facts: EngineFacts): EngineKind {
  const found = ENGINE_KINDS.find((kind) => kind.is(facts));
  if (found === undefined) throw new Error('the last kind matches every engine');
  return { name: found.name, holds: found.holds, shown: found.shown };
}
