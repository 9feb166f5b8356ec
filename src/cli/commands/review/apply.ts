import { applyPending } from '../../../session/later/apply.ts';
import { type CommandRun, optionChoice } from '../../context/context.ts';
import { withSession } from '../../context/open-session.ts';
import { writeOutcome } from '../../context/write-outcome.ts';

const CONFLICT = ['keep', 'theirs', 'markers', 'file'] as const;

/** `apply [ID]`: asks the session's question again. With --yes, --only or --skip there is no question. */
export const applyCommand: CommandRun = async (line, context) => {
  const conflict = optionChoice(line, 'conflict', CONFLICT) ?? 'ask';
  const [dryRun, json] = [line.options.has('dry-run'), line.options.has('json')];
  const ignored = line.options.get('include-ignored');
  // Without a value the option means every file.
  const release = ignored?.includes('') ? true : ignored;
  return withSession(line, context, 'decide', async (record, deps) => {
    const { status, outcome } = await applyPending(record, deps, {
      conflict,
      dryRun,
      yes: line.options.has('yes'),
      allowSuspect: line.options.get('allow-suspect') ?? [],
      ...(release === undefined ? {} : { release }),
      filter: { only: line.options.get('only') ?? [], skip: line.options.get('skip') ?? [] },
    });
    if (outcome !== undefined && (dryRun || json))
      writeOutcome(outcome, { json, applied: dryRun ? 'would apply' : 'applied' }, context);
    return status;
  });
};
