import { requireOutside } from '../../core/host/programs/trusted-start.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { restoreVariables } from '../../session/plan/mask-plan.ts';
import { foldersOf } from '../../session/record/find/session-folders.ts';
import type { CommandContext } from '../context/context.ts';
import { readRecordedFiles } from '../policy/env-files.ts';

/**
 * The plan of a session for another run: with the values of `--env` and `--env-file`, which no record has, as they are now.
 * A line names those that are missing.
 */
export function restoredPlan(
  record: SessionRecord,
  { env, tell, places }: Pick<CommandContext, 'env' | 'tell' | 'places'>,
): Plan {
  const { policy, project } = record.plan;
  requireOutside(foldersOf(record.plan), record.plan.mode, { ...places, env });
  const warn = (text: string): void => tell({ kind: 'message', level: 'warning', text });
  const files = readRecordedFiles(policy.envFiles ?? [], project.root);
  const { plan, missing, missingOfFiles } = restoreVariables(record.plan, env, files.values);
  if (missing.length > 0)
    warn(`Values of --env are not stored. Not set here and therefore left out: ${missing.join(', ')}`);
  if (missingOfFiles.length > 0) {
    const where = files.absent.length > 0 ? files.absent : (policy.envFiles ?? []);
    warn(`Not in ${where.join(', ')} (--env-file) and therefore left out: ${missingOfFiles.join(', ')}`);
  }
  return plan;
}
