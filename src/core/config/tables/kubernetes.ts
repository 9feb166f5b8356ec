import { z } from 'zod';
import { parseSizeMb } from '../values/quantities.ts';

/** What run-claude needs to know of clusters. */
export interface KubernetesTable {
  readonly namespace: string;
  /** What a session's pods are made of: as `--dry-run` names it. */
  readonly form: 'pod' | 'pods';
  /** Reference with a digest, which the nodes pull. */
  readonly image: string;
  /** Undefined: the cluster's default. */
  readonly storageClass: string | undefined;
  /** Of the claim of each session. */
  readonly sizeMb: number;
  readonly accessMode: 'ReadWriteOnce' | 'ReadWriteMany';
  /** In seconds: how long a pod waits for a sign of the command that started it. */
  readonly patience: number;
  /** In seconds: the cluster ends a pod after that, where `--timeout` does not say. */
  readonly deadline: number;
  /** Layers that sessions in pods do without, as `--without-layer` names them. */
  readonly withoutLayers: readonly string[];
}

const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;
const name = z.string().regex(NAME, 'a name of Kubernetes: a-z, 0-9, - and .');

/** `[kubernetes]` of the user's configuration. */
export const kubernetesTable = z
  .strictObject({
    namespace: name.default('run-claude'),
    form: z.enum(['pod', 'pods']).default('pod'),
    image: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,400}@sha256:[0-9a-f]{64}$/, 'REPOSITORY@sha256:DIGEST'),
    'storage-class': name.optional(),
    size: z
      .string()
      .refine((text) => parseSizeMb(text) !== undefined, { error: 'a size such as 20g' })
      .default('20g'),
    'access-mode': z.enum(['ReadWriteOnce', 'ReadWriteMany']).default('ReadWriteOnce'),
    patience: z.int().min(15).max(3600).default(60),
    deadline: z.int().min(60).max(604_800).default(86_400),
    'without-layer': z.array(z.string().min(1)).default([]),
  })
  .transform(
    ({
      'storage-class': storageClass,
      'access-mode': accessMode,
      'without-layer': withoutLayers,
      size,
      ...rest
    }): KubernetesTable => ({ ...rest, storageClass, accessMode, withoutLayers, sizeMb: parseSizeMb(size) ?? 0 }),
  );
