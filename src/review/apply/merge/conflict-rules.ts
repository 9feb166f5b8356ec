import type { Conflict, ConflictRule } from '../../../core/types/change/conflict.ts';
import type { ApplyRequest, ConflictRules } from '../apply-request.ts';

/** Asks only where the rule is 'keep', there is a user to ask and the run writes to the project. */
export function conflictRules({ conflict: rule, askConflict, dryRun }: ApplyRequest): ConflictRules {
  const chosen = new Map<string, ConflictRule>();
  const ways = new Map<string, readonly ConflictRule[]>();
  const note = (path: string, { rules }: Conflict): void =>
    void ways.set(
      path,
      rules.filter((one) => one !== 'keep'),
    );
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
    waysAt: (path) => ways.get(path),
    set(path, rule, like) {
      note(path, like);
      chosen.set(path, rule);
    },
    async ruleFor(conflict) {
      const found = chosen.get(conflict.path) ?? (await find(conflict));
      note(conflict.path, conflict);
      chosen.set(conflict.path, found);
      return found;
    },
  };
}
