import type { FileRule } from '../rule.ts';
import { agentRules } from './agents.ts';
import { buildRules } from './build.ts';
import { buildOutputRules } from './build-output.ts';
import { ciRules } from './ci.ts';
import { compiledRules } from './compiled.ts';
import { desktopRules } from './desktop.ts';
import { editorRules } from './editors.ts';
import { environmentRules } from './environments.ts';
import { gitFileRules } from './git-files.ts';
import { infraRules } from './infra.ts';
import { javascriptRules } from './javascript.ts';
import { jvmDotnetRules } from './jvm-dotnet.ts';
import { languageRules } from './languages.ts';
import { lockRules } from './locks.ts';
import { packageRules } from './packages.ts';
import { pythonRules } from './python.ts';
import { rubyRules } from './ruby.ts';
import { shellRules } from './shell.ts';
import { unlistedRules } from './unlisted.ts';

/** Every rule about files of certain names. */
export const FILE_RULES: readonly FileRule[] = [
  ...gitFileRules,
  ...shellRules,
  ...environmentRules,
  ...editorRules,
  ...packageRules,
  ...javascriptRules,
  ...pythonRules,
  ...compiledRules,
  ...jvmDotnetRules,
  ...rubyRules,
  ...languageRules,
  ...lockRules,
  ...buildRules,
  ...buildOutputRules,
  ...ciRules,
  ...infraRules,
  ...agentRules,
  ...desktopRules,
  ...unlistedRules,
];
