import { readRows } from '../../scan/packed-directory.ts';
import type { Snapshot } from '../../scan/snapshot.ts';

/** Two entries of one folder whose names are one name on disks that fold letter case or Unicode forms (APFS, JFS). */
export interface NameTwins {
  /** Relative to the project; '' is the project itself. */
  readonly folder: string;
  readonly names: readonly [string, string];
}

/** The first such pair of a project, undefined when there is none. */
export function findNameTwins(snapshot: Snapshot): NameTwins | undefined {
  for (const [folder, packed] of snapshot) {
    const byFold = new Map<string, string>();
    for (const name of readRows(packed).keys()) {
      const folded = name.normalize('NFC').toLowerCase();
      const twin = byFold.get(folded);
      if (twin !== undefined) return { folder, names: [twin, name] };
      byFold.set(folded, name);
    }
  }
  return undefined;
}
