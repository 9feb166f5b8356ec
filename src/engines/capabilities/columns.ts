import type { EngineFacts, PodForm, RuntimeKind } from '../../core/types/engine.ts';

/**
 * What `--dry-run=FORM` renders: OCI bundles; one pod of the RuntimeClass in deploy/kubernetes; one pod for each container,
 * on any cluster.
 */
export type RenderForm = 'oci' | PodForm;

/** What a session runs on: each runtime, and Kubernetes by the form of its pods. */
export type RuntimeColumn = Exclude<RuntimeKind, 'kubernetes'> | `kubernetes-${PodForm}`;

/** A column of the table of capabilities. */
export type Column = RuntimeColumn | RenderForm;

/** Titles of the columns, in their order. */
export const COLUMNS: Readonly<Record<Column, string>> = {
  docker: 'Docker',
  podman: 'Podman',
  slurm: 'Slurm',
  'kubernetes-pod': 'Kubernetes, `pod`',
  'kubernetes-pods': 'Kubernetes, `pods`',
  oci: '`--dry-run=oci`',
  pod: '`--dry-run=pod`',
  pods: '`--dry-run=pods`',
};

/** A column, and how messages name it. */
export interface Place {
  readonly column: Column;
  /** '--on slurm:short', '--dry-run=pod', 'Podman 4.3.1'. */
  readonly named: string;
}

/** The column of a runtime. Pure. */
export function placeOf({
  kind,
  form = 'pods',
  name,
  endpoint,
}: Pick<EngineFacts, 'kind' | 'form' | 'name' | 'endpoint'>): Place {
  if (kind === 'kubernetes') return { column: `kubernetes-${form}`, named: `--on ${endpoint}` };
  return { column: kind, named: kind === 'slurm' ? `--on ${endpoint}` : name };
}

/** The column of a form of `--dry-run`. */
export const formPlace = (form: RenderForm): Place => ({ column: form, named: `--dry-run=${form}` });
