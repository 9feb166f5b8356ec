import type { Archive } from '../ecosystem.ts';

/** The request to the program in the filling container: one line of JSON on its stdin. */
export interface FillRequest {
  readonly archives: readonly Archive[];
  /** Where the archives are put. */
  readonly dir: string;
  /** An older cache of the ecosystem: its archives are taken where they have the hash. */
  readonly previous: string | undefined;
  /** A larger archive is not kept. */
  readonly maxArchiveBytes: number;
  /** Free space to leave on the disk, in bytes. */
  readonly reserveBytes: number;
  /** How long a registry may send nothing. */
  readonly stallMs: number;
}

/** What it answers: lines of JSON on its stdout, the last of which is of kind 'filled' or 'failed'. */
export type FillReport =
  | { readonly kind: 'progress'; readonly done: number }
  /** The registry has no such file, and the archive may be absent. */
  | { readonly kind: 'absent'; readonly path: string }
  | { readonly kind: 'filled'; readonly bytes: number }
  /** `why` has no text of the registry. */
  | { readonly kind: 'failed'; readonly archive: string; readonly why: string };
