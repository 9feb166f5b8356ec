import { type Asked, by, type Capability, type Cell, lost } from './capability.ts';

/** Each field, by API; `slurm` as `oci`, and `pods` as `pod`, where they are not named. */
interface Fields {
  readonly docker: string;
  readonly podman: string;
  readonly oci: string;
  readonly slurm?: string;
  readonly pod: string;
  readonly pods?: string;
}

type Lossy = 'slurm' | 'oci' | 'pod' | 'pods';

interface RowOptions {
  /** What is lost, with the field, if any, that has a part of it. */
  readonly lost?: Readonly<Partial<Record<Lossy, string>>>;
  /** Lost on some nodes of Slurm only. */
  readonly onNodes?: string;
  /** Absent: every container has the part. */
  readonly isAsked?: (asked: Asked) => boolean;
  readonly proof?: readonly string[];
  readonly probes?: readonly string[];
  readonly words?: string;
}

/** What stands where an API has no field for a part. */
export const NONE = 'no field';

/** A part of every container, or of those of `isAsked`. Pods of `--on k8s:` are those of `--dry-run`. */
export function row(
  what: string,
  fields: Fields,
  { lost: gone = {}, onNodes, words = what, ...more }: RowOptions = {},
): Capability {
  const cell = (column: Lossy, field: string): Cell =>
    gone[column] === undefined ? by(field) : lost(gone[column], field === NONE ? undefined : field);
  const slurm = fields.slurm ?? fields.oci;
  const pod = cell('pod', fields.pod);
  const pods = cell('pods', fields.pods ?? fields.pod);
  return {
    what,
    words,
    cells: {
      docker: by(fields.docker),
      podman: by(fields.podman),
      slurm:
        onNodes === undefined ? cell('slurm', slurm) : { is: 'unsupported', lost: onNodes, by: slurm, onNodes: true },
      'kubernetes-pod': pod,
      'kubernetes-pods': pods,
      oci: cell('oci', fields.oci),
      pod,
      pods,
    },
    isAsked: ({ spec }) => spec !== undefined,
    ...more,
  };
}
