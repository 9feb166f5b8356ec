import { selectPaths } from '../../../core/text/selection.ts';
import type { Mount } from '../../../core/types/engine.ts';
import type { Plan } from '../../../core/types/plan.ts';
import type { Decoy } from '../../../core/types/secret/decoy.ts';
import type { SecretFile } from '../../../core/types/secret/secret-file.ts';
import { gitPathsOnDisk } from '../../scan/project-ignores.ts';
import type { HostEntry } from '../scan-project.ts';
import { unwatchedError } from './breach.ts';
import { type MaskGuard, openMaskGuard } from './mask-guard.ts';
import { filesOfMask, mountMasks, withOtherNames } from './mask-mounts.ts';
import type { EndedMask } from './mask-record.ts';
import { bytesOrNothing, isNewSecret, readableValues, textsWithDecoys } from './project-secrets.ts';
import { realCopies } from './real-copies.ts';

/** What covers the masked files of a bind session, and what watches that it does. */
export interface BindMasks {
  readonly mounts: readonly Mount[];
  /** Undefined where nothing is to be masked. */
  readonly guard: MaskGuard | undefined;
  /** In place of secrets. */
  readonly decoys: readonly Decoy[];
}

/**
 * Covers the files that the plan masks by name and those of `secrets` that are masked, and begins to watch them.
 *
 * @throws {RunClaudeError} MASK_UNWATCHED where a mask could be lost without notice
 */
export function openMasks(
  plan: Plan,
  entries: ReadonlyMap<string, HostEntry>,
  secrets: readonly SecretFile[],
): BindMasks {
  const holding = secrets.flatMap(({ path, state }) => (state === 'masked' ? [path] : []));
  if (plan.policy.mask.length === 0 && holding.length === 0) return NO_MASKS;
  const { root } = plan.project;
  if (!plan.engine.local)
    throw unwatchedError(`${plan.engine.name} runs on another kernel, which does not learn of your changes at once`);
  const isNamed = maskedByName(plan);
  const { files: texts, decoys } = textsWithDecoys(root, entries, holding);
  const named = filesOfMask(root, entries, isNamed);
  // A link of such a name may lead to a secret: then nothing of that is shown.
  const empty = new Set(named.map(({ path }) => path));
  const files = withOtherNames([...named, ...texts.filter(({ path }) => !empty.has(path))], entries);
  const covered = files.map(({ path }) => path);
  // From here on every change is noticed, also one that comes before the mounts exist.
  const known = readableValues(root, entries, { secrets, decoys, env: plan.env });
  const isRealCopy = realCopies({
    root,
    entries,
    masked: covered,
    read: (path) => bytesOrNothing(root, path, entries.get(path)),
    isTracked: gitPathsOnDisk(root).isTracked,
    known,
    unmask: plan.policy.unmask,
  });
  const isSecret = isNewSecret(root, plan.policy, known);
  const guard = openMaskGuard({ root, entries, covered, wouldMask: isNamed, isNewSecret: isSecret, isRealCopy });
  try {
    return { mounts: mountMasks(plan, files), guard, decoys };
  } catch (error) {
    guard[Symbol.dispose]();
    throw error;
  }
}

/** Of a session that masks nothing. */
export const NO_MASKS: BindMasks = { mounts: [], guard: undefined, decoys: [] };

/** Whether the agent of a session had another text in place of a file, or would have had it. */
export function maskedPaths(plan: Plan, masks: readonly Pick<EndedMask, 'path'>[]): (path: string) => boolean {
  const files = new Set(masks.map(({ path }) => path));
  const isNamed = maskedByName(plan);
  return (path) => files.has(path) || isNamed(path);
}

/** What the user's own rules mask, by name. */
function maskedByName({ policy }: Pick<Plan, 'policy'>): (path: string) => boolean {
  return selectPaths({ exclude: [], include: [], mask: policy.mask }).masked;
}
