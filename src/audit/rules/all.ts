import type { Rule } from '../judges/rule.ts';
import { agentRules } from './agents.ts';
import { botRules } from './build/bots.ts';
import { ciRules } from './build/ci.ts';
import { packagingRules } from './build/packaging.ts';
import { toolSettingsRules } from './build/tool-settings.ts';
import { buildRules } from './build/tools.ts';
import { ATTACKS_SIGNALS } from './content/attacks.ts';
import { CHECKS_SIGNALS } from './content/checks.ts';
import { DIRECTIVES_SIGNALS } from './content/directives.ts';
import { DOCUMENTS_SIGNALS } from './content/documents.ts';
import { HIDDEN_CODE_SIGNALS } from './content/hidden-code.ts';
import { buildOutputRules } from './dependencies/build-output.ts';
import { lockRules } from './dependencies/locks.ts';
import { newDependencyRules } from './dependencies/new-dependency.ts';
import { desktopRules } from './desktop.ts';
import { editorRules } from './editors.ts';
import { engineRules } from './engines.ts';
import { gitFileRules } from './git-files.ts';
import { infraRules } from './infrastructure/containers-and-clouds.ts';
import { kubernetesRules } from './infrastructure/kubernetes.ts';
import { provisioningRules } from './infrastructure/provisioning.ts';
import { packageRules } from './javascript/packages.ts';
import { javascriptRules } from './javascript/tool-settings.ts';
import { compiledRules } from './languages/compiled.ts';
import { dotnetRules } from './languages/dotnet.ts';
import { jvmRules } from './languages/jvm.ts';
import { languageRules } from './languages/others.ts';
import { programRules } from './languages/programs.ts';
import { rubyRules } from './languages/ruby.ts';
import { documentRules } from './python/documents.ts';
import { pythonPackageRules } from './python/packages.ts';
import { pythonProgramRules } from './python/programs.ts';
import { pythonSettingsRules } from './python/settings.ts';
import { dotfileRules } from './shell/dotfiles.ts';
import { environmentRules } from './shell/environments.ts';
import { shellRules } from './shell/startup.ts';
import { textEditorRules } from './text-editors.ts';
import { unlistedRules } from './unlisted.ts';

/** Rules about files of certain names. */
export const FILE_RULES: readonly Rule[] = [
  ...gitFileRules,
  ...shellRules,
  ...dotfileRules,
  ...environmentRules,
  ...editorRules,
  ...textEditorRules,
  ...packageRules,
  ...javascriptRules,
  ...pythonProgramRules,
  ...pythonSettingsRules,
  ...pythonPackageRules,
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
  ...toolSettingsRules,
  ...buildOutputRules,
  ...packagingRules,
  ...ciRules,
  ...botRules,
  ...infraRules,
  ...kubernetesRules,
  ...provisioningRules,
  ...agentRules,
  ...desktopRules,
  ...engineRules,
  ...unlistedRules,
];

/** Rules about single new lines of any text. */
export const SIGNAL_RULES: readonly Rule[] = [
  ...HIDDEN_CODE_SIGNALS,
  ...ATTACKS_SIGNALS,
  ...DOCUMENTS_SIGNALS,
  ...CHECKS_SIGNALS,
  ...DIRECTIVES_SIGNALS,
];
