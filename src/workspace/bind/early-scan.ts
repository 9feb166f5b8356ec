import type { Plan } from '../../core/types/plan.ts';
import type { ProjectSecrets } from '../../core/types/secret/secret-file.ts';
import { countMounted, type Entering } from '../base/entering.ts';
import { gitPathsOnDisk } from '../scan/project-ignores.ts';
import { findProjectSecrets, type SecretPolicy } from './masks/project-secrets.ts';
import { type ProjectScan, scanProjectInTurns } from './scan-project.ts';
import { skipShielded } from './snapshot.ts';

/** How old a scan may be: what is saved in an editor counts until a session starts. */
const MAX_SCAN_AGE_MS = 1000;

/** A scan with the project's files that hold secrets. */
export interface EarlyScan extends ProjectScan {
  readonly secrets: ProjectSecrets;
}

/** Gives the scan once, where it is recent and was made with the same `.git` left out. */
export type TakeEarlyScan = (isShielded: boolean) => Promise<EarlyScan | undefined>;

/**
 * Scans a project of bind mode while the engine is asked for other things. Never fails: an error comes again later, where
 * it can be reported.
 */
export function beginEarlyScan(
  { root, git }: Plan['project'],
  policy: SecretPolicy,
): {
  readonly take: TakeEarlyScan;
  readonly counted: Promise<Entering | undefined>;
} {
  const isShielded = git === 'directory' || git === 'file';
  const gitPaths = gitPathsOnDisk(root);
  let scanned: Promise<{ scan: EarlyScan; ended: number } | undefined> | undefined = scanProjectInTurns(
    root,
    skipShielded(isShielded),
  ).then((scan) => ({
    ended: Date.now(),
    scan: { ...scan, secrets: findProjectSecrets(root, scan.entries, policy, gitPaths) },
  }));
  scanned = scanned.catch(() => undefined);
  const counted = scanned.then((one) => one && countMounted(one.scan.entries, gitPaths.isLeftOut, one.scan.secrets));
  return {
    counted: counted.catch(() => undefined),
    async take(shielded) {
      const given = scanned;
      // It is large, and must not be kept.
      scanned = undefined;
      const one = await given;
      const isRecent = one !== undefined && Date.now() - one.ended <= MAX_SCAN_AGE_MS;
      return isRecent && shielded === isShielded ? one.scan : undefined;
    },
  };
}
