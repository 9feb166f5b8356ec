import { usageError } from '../../errors.ts';
import { applyLater } from '../../session/settle.ts';
import { type CommandRun, optionValue } from '../context.ts';
import { withSession } from '../open-session.ts';

const CONFLICT = ['keep', 'theirs', 'markers', 'file'] as const;

/** `apply [ID]`: the question at the end, again; with --yes, --only or --skip without it. */
export const applyCommand: CommandRun = async (line, context) => {
  const named = optionValue(line, 'conflict') ?? 'keep';
  const conflict = CONFLICT.find((rule) => rule === named);
  if (conflict === undefined) throw usageError(`--conflict ${named}: it is one of ${CONFLICT.join(', ')}`);
  return withSession(line, context, (record, deps) =>
    applyLater(record, deps, {
      conflict,
      dryRun: line.options.has('dry-run'),
      yes: line.options.has('yes'),
      filter: { only: line.options.get('only') ?? [], skip: line.options.get('skip') ?? [] },
    }),
  );
};
