import type { FileRule } from '../formats/rule.ts';
import { agentRules } from './agents.ts';
import { buildRules } from './build.ts';
import { buildOutputRules } from './build-output.ts';
import { ciRules } from './ci.ts';
import { compiledRules } from './compiled.ts';
import { desktopRules } from './desktop.ts';
import { documentRules } from './documents.ts';
import { dotfileRules } from './dotfiles.ts';
import { dotnetRules } from './dotnet.ts';
import { editorRules } from './editors.ts';
import { engineRules } from './engines.ts';
import { environmentRules } from './environments.ts';
import { gitFileRules } from './git-files.ts';
import { infraRules } from './infra.ts';
import { javascriptRules } from './javascript.ts';
import { jvmRules } from './jvm.ts';
import { kubernetesRules } from './kubernetes.ts';
import { languageRules } from './languages.ts';
import { lockRules } from './locks.ts';
import { newDependencyRules } from './new-dependency.ts';
import { packageRules } from './packages.ts';
import { packagingRules } from './packaging.ts';
import { programRules } from './programs.ts';
import { provisioningRules } from './provisioning.ts';
import { pythonRules } from './python.ts';
import { rubyRules } from './ruby.ts';
import { shellRules } from './shell.ts';
import { unlistedRules } from './unlisted.ts';

/** Every rule about files of certain names. */
export const FILE_RULES: readonly FileRule[] = [
  ...gitFileRules,
  ...shellRules,
  ...dotfileRules,
  ...environmentRules,
  ...editorRules,
  ...packageRules,
  ...javascriptRules,
  ...pythonRules,
  ...documentRules,
  ...compiledRules,
  ...jvmRules,
  ...dotnetRules,
  ...rubyRules,
  ...languageRules,
  ...programRules,
  ...lockRules,
  ...newDependencyRules,
  ...buildRules,
  ...buildOutputRules,
  ...packagingRules,
  ...ciRules,
  ...infraRules,
  ...kubernetesRules,
  ...provisioningRules,
  ...agentRules,
  ...desktopRules,
  ...engineRules,
  ...unlistedRules,
];
