import type { Conflict, ConflictRule } from '../../core/types/conflict.ts';
import type { ApplyRequest } from './apply-changes.ts';

/** The rule for each conflict of one apply: that of the command line, or what the user answers. */
export interface ConflictRules {
  ruleFor(conflict: Conflict): Promise<ConflictRule>;
  /** Gives a path the rule that was found for another one, with which it is one thing, and what could be chosen there. */
  set(path: string, rule: ConflictRule, like: Conflict): void;
  /** The paths that got this rule. */
  readonly chosen: ReadonlyMap<string, ConflictRule>;
  /** What decides the conflict at a path, apart from keeping the host's version; undefined where there was no conflict. */
  waysAt(path: string): readonly ConflictRule[] | undefined;
}

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
