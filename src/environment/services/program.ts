import type { ContainerSpec, Mount } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Service } from '../../core/types/policy.ts';
import { type CompanionProgram, companionContainer } from '../../network/companion/companion.ts';
import { socketsInside } from '../../network/companion/companion-place.ts';
import { companionOf, dataVolume, doorsTo, OWNED_DATA, SEED_DATA } from './places.ts';

const PIDS = 1024;
const TMP_MB = 64;
/** Copies the seed's data, then becomes the service. A copy that fails ends it. */
const COPY = `cp -a --reflink=auto ${SEED_DATA}/. ${OWNED_DATA}/ && exec "$@"`;

/** What a service runs with, apart from its tables. */
export interface ProgramParts {
  /** The volume of its data. Undefined: that of the session. */
  readonly data?: string;
  /** A volume that the data begins as a copy of. */
  readonly seed?: string | undefined;
  readonly mounts?: readonly Mount[];
}

/** A service of a plan, as the program of its container. */
export function programOf(
  { policy, sessionId }: Pick<Plan, 'policy' | 'sessionId'>,
  service: Service,
  { data = dataVolume(sessionId, service.name), seed, mounts = [] }: ProgramParts = {},
): CompanionProgram {
  const { name, command, env, port, reaches, memoryMb } = service;
  const doors = doorsTo(
    (policy.services ?? []).filter((other) => reaches.includes(other.name)),
    sessionId,
  );
  const own = (target: string, more: { readonly fill?: true } = {}): Mount => {
    return { kind: 'volume', volume: data, target, readonly: false, ...more };
  };
  return {
    name: companionOf(name),
    title: `the service ${name}`,
    argv: seed === undefined ? command : ['/bin/sh', '-c', COPY, 'sh', ...command],
    env,
    loopbackNames: [name, ...doors.names],
    mounts: [
      // The second mount must not fill the volume with what the image has there.
      own(OWNED_DATA, { fill: true }),
      own(service.data),
      ...(seed === undefined
        ? []
        : [{ kind: 'volume', volume: seed, target: SEED_DATA, readonly: true } satisfies Mount]),
      ...doors.mounts,
      ...mounts,
    ],
    forwards: [`${socketsInside.own}=${port}`, ...doors.forwards],
    limits: { memoryMb, cpus: 0, pids: PIDS, tmpMb: TMP_MB },
  };
}

/** The containers of a plan's services, for a plan that is not started. `imageOf` gives the name of a service's image. */
export function plannedServices(
  plan: Pick<Plan, 'policy' | 'sessionId'>,
  seccomp: string,
  imageOf: (service: Service) => string,
): readonly ContainerSpec[] {
  const { sessionId, policy } = plan;
  return (policy.services ?? []).map((service) =>
    companionContainer(
      { sessionId, image: imageOf(service), seccomp, runtime: policy.runtime },
      programOf(plan, service),
    ),
  );
}
