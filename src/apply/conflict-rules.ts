import type { Conflict, ConflictRule } from '../types/conflict.ts';
import type { ApplyRequest } from './apply-changes.ts';

/** The rule for each conflict of one apply: that of the command line, or what the user answers. */
export interface ConflictRules {
  ruleFor(conflict: Conflict): Promise<ConflictRule>;
  /** Gives a path the rule that was found for another one, with which it is one thing. */
  set(path: string, rule: ConflictRule): void;
  /** The paths that got this rule. */
  readonly chosen: ReadonlyMap<string, ConflictRule>;
}

/** Asks only where the rule is 'keep', there is a user to ask and the run writes to the project. */
export function conflictRules({ conflict: rule, askConflict, dryRun }: ApplyRequest): ConflictRules {
  const chosen = new Map<string, ConflictRule>();
  let forAll: ConflictRule | undefined;
  const find = async (conflict: Conflict): Promise<ConflictRule> => {
    if (rule !== 'keep' || askConflict === undefined || dryRun) return conflict.rules.includes(rule) ? rule : 'keep';
    if (forAll !== undefined && conflict.rules.includes(forAll)) return forAll;
    const answer = await askConflict(conflict);
    if (answer.forAll) forAll = answer.rule;
    return answer.rule;
  };
  return {
    chosen,
    set: (path, rule) => void chosen.set(path, rule),
    async ruleFor(conflict) {
      const found = chosen.get(conflict.path) ?? (await find(conflict));
      chosen.set(conflict.path, found);
      return found;
    },
  };
}
