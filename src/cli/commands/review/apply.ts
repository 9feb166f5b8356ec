import { realpathSync } from 'node:fs';
import { requirePackageOutside } from '../../../core/host/programs/trusted-start.ts';
import { tellNextPending } from '../../../session/end/next-pending.ts';
import { applyPending } from '../../../session/outcome/apply.ts';
import { targetNamed } from '../../../session/outcome/targets/targets.ts';
import { foldersOf } from '../../../session/record/find/session-folders.ts';
import { type CommandRun, optionChoice } from '../../context/context.ts';
import { withEngineOf } from '../../engines/with-engine.ts';
import { withSession } from '../../sessions/open-session.ts';
import { writeOutcome } from '../../sessions/write-outcome.ts';

const CONFLICT = ['keep', 'theirs', 'markers', 'file'] as const;

/**
 * `apply [ID]`: asks the session's question again. With --yes, --only or --skip there is no question. `--branch`
 * makes a commit on a new branch instead of changing files.
 */
export const applyCommand: CommandRun = async (line, context) => {
  const conflict = optionChoice(line, 'conflict', CONFLICT) ?? 'ask';
  const [dryRun, json] = [line.options.has('dry-run'), line.options.has('json')];
  const ignored = line.options.get('include-ignored');
  // Without a value the option means every file.
  const release = ignored?.includes('') ? true : ignored;
  const given = new Map([...line.options].map(([name, values]) => [name, values.at(-1) ?? '']));
  const row = targetNamed(given, conflict);
  return withSession(line, context, 'apply', async (record, deps) => {
    requirePackageOutside(foldersOf(record.plan));
    const options = {
      conflict,
      dryRun,
      yes: line.options.has('yes'),
      allowSuspect: line.options.get('allow-suspect') ?? [],
      ...(release === undefined ? {} : { release }),
      filter: { only: line.options.get('only') ?? [], skip: line.options.get('skip') ?? [] },
    } as const;
    const cwd = realpathSync(context.cwd);
    const target = await row.open(record, deps, { cwd, env: context.env, given });
    const { status, outcome } = await applyPending(record, withEngineOf(deps, context), options, target);
    if (outcome !== undefined && (dryRun || json))
      writeOutcome(outcome, { json, applied: dryRun ? 'would apply' : 'applied' }, context);
    if (!dryRun) tellNextPending(record, deps);
    return status;
  });
};
