import type { FileRule } from '../rule.ts';
import { agentRules } from './agents.ts';
import { buildRules } from './build.ts';
import { ciRules } from './ci.ts';
import { desktopRules } from './desktop.ts';
import { editorRules } from './editors.ts';
import { gitFileRules } from './git-files.ts';
import { infraRules } from './infra.ts';
import { javascriptRules } from './javascript.ts';
import { languageRules } from './languages.ts';
import { pythonRules } from './python.ts';
import { shellRules } from './shell.ts';

/** Every rule about files of certain names. */
export const FILE_RULES: readonly FileRule[] = [
  ...gitFileRules,
  ...shellRules,
  ...editorRules,
  ...javascriptRules,
  ...pythonRules,
  ...languageRules,
  ...buildRules,
  ...ciRules,
  ...infraRules,
  ...agentRules,
  ...desktopRules,
];
