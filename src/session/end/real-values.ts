import path from 'node:path';
import { regularFileBytes } from '../../core/host/regular-file.ts';
import { isTelling } from '../../core/secrets/copied-values.ts';
import { secretValues } from '../../core/secrets/values.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Decoy } from '../../core/types/secret/decoy.ts';

const MAX_FILE_BYTES = 1024 * 1024;

/**
 * The secrets of the user's own files at these paths, as the files are now; they are never stored. Without those that the
 * user passed to the session by `--env` or `--env-file`, and without a file that cannot be read any more.
 */
export function realValues(
  { project, policy }: Pick<Plan, 'project' | 'policy'>,
  paths: readonly string[],
): readonly Decoy[] {
  const names = new Set(Object.keys(policy.env));
  const values = new Set(Object.values(policy.env));
  return paths.flatMap((relative) => {
    const file = path.join(project.root, relative);
    if (relative.startsWith('~/') || policy.envFiles?.includes(file) === true) return [];
    // One that was removed or replaced since the start gives nothing to compare with.
    const text = regularFileBytes(file, MAX_FILE_BYTES)?.toString();
    if (text === undefined) return [];
    return secretValues(relative, text, true).flatMap(({ name, value }): Decoy[] => {
      const isPassed = values.has(value) || (name !== undefined && names.has(name));
      if (isPassed || !isTelling(value)) return [];
      return [{ path: relative, ...(name === undefined ? {} : { name }), value }];
    });
  });
}
