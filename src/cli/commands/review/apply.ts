import { realpathSync } from 'node:fs';
import { usageError } from '../../../core/errors.ts';
import { tellNextPending } from '../../../session/end/next-pending.ts';
import { applyPending } from '../../../session/later/apply.ts';
import { applyToBranch } from '../../../session/later/apply-branch.ts';
import { type CommandRun, optionChoice, optionValue } from '../../context/context.ts';
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
  const branch = optionValue(line, 'branch');
  for (const name of ['push', 'pr', 'title']) {
    if (line.options.has(name) && branch === undefined) throw usageError(`--${name} needs --branch`);
  }
  return withSession(line, context, 'apply', async (record, deps) => {
    const options = {
      conflict,
      dryRun,
      cwd: realpathSync(context.cwd),
      yes: line.options.has('yes'),
      allowSuspect: line.options.get('allow-suspect') ?? [],
      ...(release === undefined ? {} : { release }),
      filter: { only: line.options.get('only') ?? [], skip: line.options.get('skip') ?? [] },
    } as const;
    const given = (name: string) => (line.options.has(name) ? { [name]: optionValue(line, name) ?? '' } : {});
    const { status, outcome } =
      branch === undefined
        ? await applyPending(record, deps, options)
        : await applyToBranch(record, deps, {
            ...options,
            ...{ branch, env: context.env },
            ...{ ...given('push'), ...given('pr'), ...given('title') },
          });
    if (outcome !== undefined && (dryRun || json))
      writeOutcome(outcome, { json, applied: dryRun ? 'would apply' : 'applied' }, context);
    if (!dryRun) tellNextPending(record, deps);
    return status;
  });
};
