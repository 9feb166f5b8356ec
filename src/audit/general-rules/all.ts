import { CONTENT_RULES } from './content.ts';
import { ENTRY_RULES } from './entries.ts';
import { GIT_RULES } from './git.ts';
import { MASKED_RULES } from './masked.ts';
import { NAME_RULES } from './names.ts';
import { REHEARSAL_RULES } from './rehearsed.ts';
import type { GeneralRule } from './rule.ts';
import { TREE_RULES } from './tree.ts';

/** Rules on more than the name and content of one file. Their looks are run in this order. */
export const GENERAL_RULES: readonly GeneralRule[] = [
  ...NAME_RULES,
  ...ENTRY_RULES,
  ...GIT_RULES,
  ...CONTENT_RULES,
  ...TREE_RULES,
  ...MASKED_RULES,
  ...REHEARSAL_RULES,
];
