import { usageError } from '../../errors.ts';
import { applyLater } from '../../session/settle.ts';
import { type CommandRun, optionValue } from '../context.ts';
import { withSession } from '../open-session.ts';
import { writeOutcome } from '../write-outcome.ts';

const CONFLICT = ['keep', 'theirs', 'markers', 'file'] as const;

/** `apply [ID]`: the question at the end, again; with --yes, --only or --skip without it. */
export const applyCommand: CommandRun = async (line, context) => {
  const named = optionValue(line, 'conflict') ?? 'keep';
  const conflict = CONFLICT.find((rule) => rule === named);
  if (conflict === undefined)
    throw usageError(`--conflict: '${named}' is not allowed`, `Write one of: ${CONFLICT.join(', ')}.`);
  const [dryRun, json] = [line.options.has('dry-run'), line.options.has('json')];
  return withSession(line, context, async (record, deps) => {
    const { status, outcome } = await applyLater(record, deps, {
      conflict,
      dryRun,
      yes: line.options.has('yes'),
      filter: { only: line.options.get('only') ?? [], skip: line.options.get('skip') ?? [] },
    });
    if (outcome !== undefined && (dryRun || json))
      writeOutcome(outcome, { json, applied: dryRun ? 'would apply' : 'applied' }, context);
    return status;
  });
};
