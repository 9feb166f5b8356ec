import { CONTENT_RULES } from './content.ts';
import { ENTRY_RULES } from './entries.ts';
import { GIT_RULES } from './git.ts';
import { NAME_RULES } from './names.ts';
import type { GeneralRule } from './rule.ts';
import { TREE_RULES } from './tree.ts';

/**
 * The only place where these rules have a title, a reason and a severity: findings, reports and documents take them.
 */
export const GENERAL_RULES = { ...GIT_RULES, ...NAME_RULES, ...ENTRY_RULES, ...CONTENT_RULES, ...TREE_RULES };
export type GeneralRules = typeof GENERAL_RULES;

/** The same rules by family, as documents list them. */
export const GENERAL_RULES_BY_FAMILY: Readonly<Record<string, Readonly<Record<string, GeneralRule>>>> = {
  git: GIT_RULES,
  names: NAME_RULES,
  entries: ENTRY_RULES,
  content: CONTENT_RULES,
  tree: TREE_RULES,
};
