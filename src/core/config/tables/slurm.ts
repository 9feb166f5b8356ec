import { z } from 'zod';

/** What run-claude needs to know of a cluster. */
export interface SlurmTable {
  /** A directory that this machine and the nodes share. */
  readonly directory: string;
  /** A directory of each node's own disk. */
  readonly scratch: string;
  /** In seconds: how long a job waits for a sign of the command that started it. */
  readonly patience: number;
  /** Layers that sessions in jobs do without, as `--without-layer` names them. */
  readonly withoutLayers: readonly string[];
}

/** Paths become words of the kernel's mount options, which end at these characters. */
const directory = z.string().regex(/^\/[^,:\\\s]+$/, 'an absolute path without spaces, commas, colons and backslashes');

/** `[slurm]` of the user's configuration. */
export const slurmTable = z
  .strictObject({
    directory,
    scratch: directory.default('/tmp'),
    patience: z.int().min(15).max(86_400).default(60),
    'without-layer': z.array(z.string().min(1)).default([]),
  })
  .transform(({ 'without-layer': withoutLayers, ...rest }): SlurmTable => ({ ...rest, withoutLayers }));
